import { setTimeout as pause } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type {
  Characteristic,
  CharacteristicSetHandler,
  CharacteristicValue,
  HAP,
  PlatformAccessory,
  Service,
} from "homebridge";
import { RigbridgeError } from "rigbridge";
import { recordOf } from "../config/json.ts";
import { failureOf, hapStatuses } from "../failure.ts";
import { type CommandRequest, inWords, type SendCommand, withinTimeout } from "../send-command.ts";
import { EveHistory, type ReadHistory } from "./eve-history.ts";
import type { AccessoryPlan, CharacteristicPlan, CustomCharacteristic, ServicePlan } from "./plan.ts";

export interface BindingContext {
  readonly hap: HAP;
  readonly log: { readonly info: (message: string) => void; readonly warn: (message: string) => void };
  /** Stores the accessory on disk. */
  readonly store: () => void;
}

/** How long a rig identifies itself that otherwise would do so until it is stopped. */
const identifyMs = 15_000;

type Connection = Parameters<CharacteristicSetHandler>[2];

/** Keeps an accessory in Homebridge in line with a plan, or in an unknown state. */
export class AccessoryBinding {
  readonly accessory: PlatformAccessory;
  readonly #hap: HAP;
  readonly #context: BindingContext;
  /** Of each characteristic that has one; absent = its state is unknown. */
  readonly #plans = new Map<Characteristic, CharacteristicPlan>();
  readonly #handled = new WeakSet<Characteristic>();
  #history: EveHistory | null = null;
  #sendCommand: SendCommand | null = null;
  #identifies: AccessoryPlan["identify"];
  /** The last command. The next one waits for it, and uses the plan of that time. */
  #lastCommand: Promise<void> = Promise.resolve();

  constructor(accessory: PlatformAccessory, context: BindingContext) {
    this.accessory = accessory;
    this.#hap = context.hap;
    this.#context = context;
    accessory.on("identify", () => void this.#identify());
  }

  /** Brings services, properties and values in line with the plan. */
  show(plan: AccessoryPlan, sendCommand: SendCommand, readHistory: ReadHistory): void {
    this.#sendCommand = sendCommand;
    this.#identifies = plan.identify;
    this.#describe(plan);
    const services = new Set(plan.services.map((each) => this.#service(each)));
    services.add(this.#showHistory(plan, readHistory));
    for (const service of this.accessory.services) {
      if (services.has(service) || this.#isHomebridges(service)) continue;
      for (const characteristic of service.characteristics) this.#plans.delete(characteristic);
      this.accessory.removeService(service);
    }
  }

  #showHistory({ historyOf }: AccessoryPlan, readHistory: ReadHistory): Service | undefined {
    if (historyOf === undefined) this.#history = null;
    else this.#history ??= new EveHistory(this.accessory, this.#hap);
    if (historyOf !== undefined) this.#history?.show(historyOf, readHistory);
    return this.#history?.service;
  }

  /** The state is unknown: reads and writes fail until the accessory is shown again. */
  lost(): void {
    this.#sendCommand = null;
    this.#identifies = undefined;
    this.#plans.clear();
    this.#history?.lost();
    for (const service of this.accessory.services)
      if (service !== this.#history?.service && !this.#isHomebridges(service)) this.#lose(service);
  }

  #lose(service: Service): void {
    this.#handleName(service);
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
    if (typeof type === "string") this.#nameTile(service, name);
    const planned = new Set(plan.characteristics.map((each) => this.#characteristic(service, each)));
    for (const characteristic of service.characteristics) {
      if (planned.has(characteristic) || this.#isName(characteristic)) continue;
      this.#plans.delete(characteristic);
      service.removeCharacteristic(characteristic);
    }
    return service;
  }

  /**
   * Since iOS 16 a tile has the name of its accessory unless its service has this characteristic. The owner's name is kept,
   * also when the rig gets another one.
   */
  #nameTile(service: Service, name: string): void {
    const { ConfiguredName } = this.#hap.Characteristic;
    if (!service.testCharacteristic(ConfiguredName)) service.addOptionalCharacteristic(ConfiguredName);
    const given = this.#givenNames()[idOf(service)];
    service.getCharacteristic(ConfiguredName).updateValue(typeof given === "string" ? given : name);
    this.#handleName(service);
  }

  #handleName(service: Service): void {
    const { ConfiguredName } = this.#hap.Characteristic;
    if (!service.testCharacteristic(ConfiguredName)) return;
    const characteristic = service.getCharacteristic(ConfiguredName);
    if (this.#handled.has(characteristic)) return;
    this.#handled.add(characteristic);
    characteristic.onSet((value) => {
      // The Home app also writes names that were not changed.
      if (value !== characteristic.value) this.#keepName(service, value);
    });
  }

  /** An empty name returns to that of the rig. */
  #keepName(service: Service, value: CharacteristicValue): void {
    const { [idOf(service)]: _, ...others } = this.#givenNames();
    this.accessory.context.names = value === "" ? others : { ...others, [idOf(service)]: value };
    this.#context.store();
  }

  /** The names that the owner gave in the Home app, by service. */
  #givenNames(): Readonly<Record<string, unknown>> {
    return recordOf(recordOf(this.accessory.context).names);
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
    if (perms.includes("pw"))
      characteristic.onSet((value, _, connection) => this.#write(characteristic, value, connection));
  }

  async #write(characteristic: Characteristic, value: CharacteristicValue, connection: Connection): Promise<void> {
    if (this.#plans.get(characteristic)?.requestFor === undefined || this.#sendCommand === null) return this.#fail();
    const command = this.#lastCommand.then(() => this.#send(characteristic, value, connection));
    this.#lastCommand = command.catch(() => undefined);
    try {
      await withinTimeout(command);
    } catch (error) {
      throw new this.#hap.HapStatusError(hapStatuses[this.#warn(error)]);
    } finally {
      if (this.#plans.get(characteristic)?.springsBack) setImmediate(() => this.#springBack(characteristic));
    }
  }

  async #send(characteristic: Characteristic, value: CharacteristicValue, connection: Connection): Promise<void> {
    const request = this.#plans.get(characteristic)?.requestFor?.(value);
    if (request === undefined) throw gone();
    await this.#execute(request, controllerIn(connection));
  }

  async #execute(request: CommandRequest, by: string): Promise<void> {
    if (this.#sendCommand === null) throw gone();
    const words = inWords(request);
    if (words !== "") this.#context.log.info(`${this.accessory.displayName}: ${by} ${words}`);
    await this.#sendCommand(request);
  }

  /** Never rejects. */
  async #identify(): Promise<void> {
    const { displayName } = this.accessory;
    if (this.#identifies === undefined) {
      this.#context.log.info(`${displayName}: HomeKit asks it to identify itself, which it cannot do at present`);
      return;
    }
    const { begin, end } = this.#identifies;
    try {
      await this.#execute(begin, "HomeKit");
      if (end === null) return;
      await pause(identifyMs, undefined, { ref: false });
      await this.#execute(end, "Rigbridge");
    } catch (error) {
      this.#warn(error);
    }
  }

  /** Logs a failed command; returns its status for controllers. */
  #warn(error: unknown): keyof typeof hapStatuses {
    const { status, message } = failureOf(error);
    this.#context.log.warn(`${this.accessory.displayName}: ${message}`);
    return status;
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

const gone = () => new RigbridgeError("rig.unreachable", "The service no longer answers");

const idOf = ({ UUID, subtype }: Service): string => `${UUID} ${subtype ?? ""}`;

/** Each person in a home has their own controller, and a home hub passes on their actions. */
function controllerIn(connection: Connection): string {
  if (connection === undefined) return "HomeKit";
  const { username, remoteAddress } = connection;
  const who = username === undefined ? "HomeKit" : `HomeKit controller ${username.slice(0, 8)}`;
  return `${who} at ${remoteAddress.replace(/^::ffff:/, "")}`;
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
