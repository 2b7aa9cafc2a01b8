import { isDeepStrictEqual } from "node:util";
import type { Characteristic, CharacteristicValue, HAP, PlatformAccessory, Service } from "homebridge";
import { RigbridgeError } from "rigbridge";
import { type SendCommand, withinTimeout } from "../send-command.ts";
import { customCharacteristic, customService } from "./custom.ts";
import { hapError, unreachable } from "./hap-error.ts";
import type { AccessoryPlan, CharacteristicPlan, ServicePlan } from "./plan.ts";

export interface AccessoryContext {
  readonly hap: HAP;
  readonly warn: (message: string) => void;
}

/** An accessory at Homebridge that shows a plan, or that nobody knows how it is. */
export class AccessoryBinding {
  readonly accessory: PlatformAccessory;
  readonly #with: AccessoryContext;
  /** What each characteristic shows; absent = nobody knows. */
  readonly #plans = new Map<Characteristic, CharacteristicPlan>();
  readonly #handled = new WeakSet<Characteristic>();
  #sendCommand: SendCommand | null = null;
  /** What was last written; what comes after waits for it, and is told of the rig as it is then. */
  #written: Promise<void> = Promise.resolve();

  constructor(accessory: PlatformAccessory, shownWith: AccessoryContext) {
    this.accessory = accessory;
    this.#with = shownWith;
  }

  /** Brings services, properties and values in line with the plan. */
  show(plan: AccessoryPlan, sendCommand: SendCommand): void {
    this.#sendCommand = sendCommand;
    this.#describe(plan);
    const services = new Set(plan.services.map((each) => this.#service(each)));
    for (const service of this.accessory.services) {
      if (services.has(service) || this.#isOwn(service)) continue;
      for (const characteristic of service.characteristics) this.#plans.delete(characteristic);
      this.accessory.removeService(service);
    }
  }

  /** Nobody knows how it is: whatever is read or written fails, until it is shown again. */
  lost(): void {
    this.#sendCommand = null;
    this.#plans.clear();
    for (const service of this.accessory.services.filter((each) => !this.#isOwn(each))) this.#lose(service);
  }

  #lose(service: Service): void {
    for (const characteristic of service.characteristics.filter((each) => !this.#isName(each))) {
      this.#plans.delete(characteristic);
      this.#handle(characteristic);
      characteristic.updateValue(this.#failure());
    }
  }

  /** What Homebridge keeps itself. */
  #isOwn({ UUID }: Service): boolean {
    const { AccessoryInformation, ProtocolInformation } = this.#with.hap.Service;
    return UUID === AccessoryInformation.UUID || UUID === ProtocolInformation.UUID;
  }

  #isName({ UUID }: Characteristic): boolean {
    const { Name, ConfiguredName } = this.#with.hap.Characteristic;
    return UUID === Name.UUID || UUID === ConfiguredName.UUID;
  }

  #describe({ name, information }: AccessoryPlan): void {
    const { Service, Characteristic } = this.#with.hap;
    if (this.accessory.displayName !== name) this.accessory.updateDisplayName(name);
    this.accessory
      .getService(Service.AccessoryInformation)
      ?.updateCharacteristic(Characteristic.Name, name)
      .updateCharacteristic(Characteristic.Manufacturer, information.manufacturer)
      .updateCharacteristic(Characteristic.Model, information.model)
      .updateCharacteristic(Characteristic.SerialNumber, information.serial)
      .updateCharacteristic(Characteristic.FirmwareRevision, information.firmware);
  }

  /** undefined = it is not there. */
  #service(plan: ServicePlan): Service | undefined {
    const { hap } = this.#with;
    const { type, subtype, name } = plan;
    const uuid = typeof type === "string" ? hap.Service[type].UUID : type.uuid;
    const known = this.accessory.services.find((each) => each.UUID === uuid && each.subtype === subtype);
    if (plan.isDoubtful) {
      if (known !== undefined) this.#lose(known);
      return known;
    }
    const service = known ?? this.accessory.addService(newService(hap, plan));
    service.updateCharacteristic(hap.Characteristic.Name, name);
    const shown = new Set(plan.characteristics.map((each) => this.#characteristic(service, each)));
    for (const characteristic of service.characteristics) {
      if (shown.has(characteristic) || this.#isName(characteristic)) continue;
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
    characteristic.updateValue(plan.value ?? this.#failure());
    return characteristic;
  }

  /** The value goes first: what a new characteristic has by itself may not lie within the new range. */
  #setProps(characteristic: Characteristic, { props, value }: CharacteristicPlan): void {
    if (props === undefined || isDeepStrictEqual(characteristic.props, { ...characteristic.props, ...props })) return;
    if (value === null) characteristic.updateValue(this.#failure());
    else characteristic.value = value;
    characteristic.setProps({ ...props });
  }

  #find(service: Service, { type }: CharacteristicPlan): Characteristic {
    const { hap } = this.#with;
    if (typeof type === "string") return service.getCharacteristic(hap.Characteristic[type]);
    const known = service.characteristics.find(({ UUID }) => UUID === type.uuid);
    return known ?? service.addCharacteristic(customCharacteristic(hap, type));
  }

  /** Reads are answered from what is known, writes by the rigs. */
  #handle(characteristic: Characteristic): void {
    if (this.#handled.has(characteristic)) return;
    this.#handled.add(characteristic);
    characteristic.onGet(() => this.#plans.get(characteristic)?.value ?? this.#fail());
    const perms = characteristic.props.perms.map(String);
    if (perms.includes("pw")) characteristic.onSet((value) => this.#write(characteristic, value));
  }

  async #write(characteristic: Characteristic, value: CharacteristicValue): Promise<void> {
    if (this.#plans.get(characteristic)?.sendCommand === undefined || this.#sendCommand === null) return this.#fail();
    const { hap, warn } = this.#with;
    const told = this.#written.then(() => this.#say(characteristic, value));
    this.#written = told.catch(() => undefined);
    try {
      await withinTimeout(told);
    } catch (error) {
      const { status, message } = hapError(error);
      warn(`${this.accessory.displayName}: ${message}`);
      throw new hap.HapStatusError(status);
    } finally {
      if (this.#plans.get(characteristic)?.springsBack) setImmediate(() => this.#springBack(characteristic));
    }
  }

  async #say(characteristic: Characteristic, value: CharacteristicValue): Promise<void> {
    const request = this.#plans.get(characteristic)?.sendCommand?.(value);
    if (request === undefined || this.#sendCommand === null) throw new RigbridgeError("rig.unreachable", "It is lost");
    await this.#sendCommand(request);
  }

  #springBack(characteristic: Characteristic): void {
    characteristic.updateValue(this.#plans.get(characteristic)?.value ?? this.#failure());
  }

  #failure(): Error {
    return new this.#with.hap.HapStatusError(unreachable);
  }

  #fail(): never {
    throw this.#failure();
  }
}

function newService(hap: HAP, { type, subtype, name }: ServicePlan): Service {
  return typeof type === "string" ? new hap.Service[type](name, subtype) : customService(hap, type, name, subtype);
}
