import { isDeepStrictEqual } from "node:util";
import type { Characteristic, CharacteristicValue, HAP, PlatformAccessory, Service } from "homebridge";
import { RigbridgeError } from "rigbridge";
import { failureOf, hapStatuses } from "../failure.ts";
import { type SendCommand, withinTimeout } from "../send-command.ts";
import type { AccessoryPlan, CharacteristicPlan, CustomCharacteristic, ServicePlan } from "./plan.ts";

/** Keeps an accessory in Homebridge in line with a plan, or in an unknown state. */
export class AccessoryBinding {
  readonly accessory: PlatformAccessory;
  readonly #hap: HAP;
  readonly #warn: (message: string) => void;
  /** Of each characteristic that has one; absent = its state is unknown. */
  readonly #plans = new Map<Characteristic, CharacteristicPlan>();
  readonly #handled = new WeakSet<Characteristic>();
  #sendCommand: SendCommand | null = null;
  /** The last command. The next one waits for it, and is made from the plan as it is then. */
  #lastCommand: Promise<void> = Promise.resolve();

  constructor(accessory: PlatformAccessory, hap: HAP, warn: (message: string) => void) {
    this.accessory = accessory;
    this.#hap = hap;
    this.#warn = warn;
  }

  /** Brings services, properties and values in line with the plan. */
  show(plan: AccessoryPlan, sendCommand: SendCommand): void {
    this.#sendCommand = sendCommand;
    this.#describe(plan);
    const services = new Set(plan.services.map((each) => this.#service(each)));
    for (const service of this.accessory.services) {
      if (services.has(service) || this.#isHomebridges(service)) continue;
      for (const characteristic of service.characteristics) this.#plans.delete(characteristic);
      this.accessory.removeService(service);
    }
  }

  /** The state is unknown: reads and writes fail until the accessory is shown again. */
  lost(): void {
    this.#sendCommand = null;
    this.#plans.clear();
    for (const service of this.accessory.services.filter((each) => !this.#isHomebridges(each))) this.#lose(service);
  }

  #lose(service: Service): void {
    for (const characteristic of service.characteristics.filter((each) => !this.#isName(each))) {
      this.#plans.delete(characteristic);
      this.#handle(characteristic);
      characteristic.updateValue(this.#unreachable());
    }
  }

  /** Homebridge maintains these services itself. */
  #isHomebridges({ UUID }: Service): boolean {
    const { AccessoryInformation, ProtocolInformation } = this.#hap.Service;
    return UUID === AccessoryInformation.UUID || UUID === ProtocolInformation.UUID;
  }

  #isName({ UUID }: Characteristic): boolean {
    const { Name, ConfiguredName } = this.#hap.Characteristic;
    return UUID === Name.UUID || UUID === ConfiguredName.UUID;
  }

  #describe({ name, information }: AccessoryPlan): void {
    const { Service, Characteristic } = this.#hap;
    if (this.accessory.displayName !== name) this.accessory.updateDisplayName(name);
    this.accessory
      .getService(Service.AccessoryInformation)
      ?.updateCharacteristic(Characteristic.Name, name)
      .updateCharacteristic(Characteristic.Manufacturer, information.manufacturer)
      .updateCharacteristic(Characteristic.Model, information.model)
      .updateCharacteristic(Characteristic.SerialNumber, information.serial)
      .updateCharacteristic(Characteristic.FirmwareRevision, information.firmware);
  }

  /** undefined = doubtful, and not present. */
  #service(plan: ServicePlan): Service | undefined {
    const { type, subtype, name } = plan;
    const uuid = typeof type === "string" ? this.#hap.Service[type].UUID : type.uuid;
    const present = this.accessory.services.find((each) => each.UUID === uuid && each.subtype === subtype);
    if (plan.isDoubtful) {
      if (present !== undefined) this.#lose(present);
      return present;
    }
    const service = present ?? this.accessory.addService(newService(this.#hap, plan));
    service.updateCharacteristic(this.#hap.Characteristic.Name, name);
    const planned = new Set(plan.characteristics.map((each) => this.#characteristic(service, each)));
    for (const characteristic of service.characteristics) {
      if (planned.has(characteristic) || this.#isName(characteristic)) continue;
      this.#plans.delete(characteristic);
      service.removeCharacteristic(characteristic);
    }
    return service;
  }

  #characteristic(service: Service, plan: CharacteristicPlan): Characteristic {
    const characteristic = this.#find(service, plan);
    this.#setProps(characteristic, plan);
    this.#plans.set(characteristic, plan);
    this.#handle(characteristic);
    characteristic.updateValue(plan.value ?? this.#unreachable());
    return characteristic;
  }

  /** The value is set first: a new characteristic's default may be outside the new range. */
  #setProps(characteristic: Characteristic, { props, value }: CharacteristicPlan): void {
    if (props === undefined || isDeepStrictEqual(characteristic.props, { ...characteristic.props, ...props })) return;
    if (value === null) characteristic.updateValue(this.#unreachable());
    else characteristic.value = value;
    characteristic.setProps({ ...props });
  }

  #find(service: Service, { type }: CharacteristicPlan): Characteristic {
    if (typeof type === "string") return service.getCharacteristic(this.#hap.Characteristic[type]);
    const present = service.characteristics.find(({ UUID }) => UUID === type.uuid);
    return present ?? service.addCharacteristic(newCharacteristic(this.#hap, type));
  }

  /** Reads are answered from the plan, writes by the rigs. */
  #handle(characteristic: Characteristic): void {
    if (this.#handled.has(characteristic)) return;
    this.#handled.add(characteristic);
    characteristic.onGet(() => this.#plans.get(characteristic)?.value ?? this.#fail());
    const perms = characteristic.props.perms.map(String);
    if (perms.includes("pw")) characteristic.onSet((value) => this.#write(characteristic, value));
  }

  async #write(characteristic: Characteristic, value: CharacteristicValue): Promise<void> {
    if (this.#plans.get(characteristic)?.requestFor === undefined || this.#sendCommand === null) return this.#fail();
    const command = this.#lastCommand.then(() => this.#send(characteristic, value));
    this.#lastCommand = command.catch(() => undefined);
    try {
      await withinTimeout(command);
    } catch (error) {
      const { status, message } = failureOf(error);
      this.#warn(`${this.accessory.displayName}: ${message}`);
      throw new this.#hap.HapStatusError(hapStatuses[status]);
    } finally {
      if (this.#plans.get(characteristic)?.springsBack) setImmediate(() => this.#springBack(characteristic));
    }
  }

  async #send(characteristic: Characteristic, value: CharacteristicValue): Promise<void> {
    const request = this.#plans.get(characteristic)?.requestFor?.(value);
    if (request === undefined || this.#sendCommand === null)
      throw new RigbridgeError("rig.unreachable", "The service does not answer any more");
    await this.#sendCommand(request);
  }

  #springBack(characteristic: Characteristic): void {
    characteristic.updateValue(this.#plans.get(characteristic)?.value ?? this.#unreachable());
  }

  #unreachable(): Error {
    return new this.#hap.HapStatusError(hapStatuses.Failure);
  }

  #fail(): never {
    throw this.#unreachable();
  }
}

const newService = (hap: HAP, { type, subtype, name }: ServicePlan): Service =>
  typeof type === "string" ? new hap.Service[type](name, subtype) : new hap.Service(name, type.uuid, subtype);

/** Readable, and notifies of changes. */
function newCharacteristic(hap: HAP, { name, uuid, format, unit }: CustomCharacteristic): Characteristic {
  const { CurrentAmbientLightLevel, HeartBeat, ThreadStatus } = hap.Characteristic;
  // HAP's own characteristics of these formats: the enums of formats and permissions have no value to import.
  const like = { float: CurrentAmbientLightLevel, uint16: ThreadStatus, uint32: HeartBeat }[format];
  const { format: hapFormat, perms } = new like().props;
  return new hap.Characteristic(name, uuid, { format: hapFormat, unit, perms: [...perms] });
}
