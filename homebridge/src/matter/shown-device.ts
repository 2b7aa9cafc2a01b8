import { setTimeout as pause } from "node:timers/promises";
import type { MatterAccessory, MatterAPI } from "homebridge";
import { platformName, pluginName } from "../names.ts";
import type { Tell, Telling } from "../teller.ts";
import { modes } from "./devices.ts";
import { due, type States } from "./due.ts";
import { matterError } from "./error.ts";
import type { Clusters, DevicePlan, DeviceType, PartPlan, Tellable } from "./plan.ts";
import { type Context, withoutNow } from "./remembered.ts";
import { celsius } from "./units.ts";

export interface ShownThrough {
  readonly matter: MatterAPI;
  readonly warn: (message: string) => void;
  /** Runs one after the other: Homebridge takes in devices that come at once in any order, and says nothing of it. */
  readonly inTurn: (work: () => Promise<void>) => Promise<void>;
}

/** ms between two looks whether Homebridge has taken in a device, or let it go, and how long it is waited for. */
const lookEvery = 25;
const patience = 30_000;

/** A device at Homebridge that shows a plan, or that nobody knows how it is. */
export class ShownDevice {
  readonly #uuid: string;
  readonly #through: ShownThrough;
  #plan: DevicePlan;
  #tell: Tell | null = null;
  /** What Homebridge has of it; null = nothing yet. */
  #shape: string | null = null;
  /** What controllers were told, by the id of the part, "" for the device itself. */
  readonly #told = new Map<string, States>();
  #isMoving = false;
  #isClosed = false;

  constructor(plan: DevicePlan, through: ShownThrough) {
    this.#uuid = through.matter.uuid.generate(`rigbridge:matter:${plan.key}`);
    this.#through = through;
    this.#plan = plan;
  }

  get plan(): DevicePlan {
    return this.#plan;
  }

  /** Brings Homebridge in line with the plan. */
  show(plan: DevicePlan, tell: Tell): void {
    this.#plan = plan;
    this.#tell = tell;
    this.#bring(false);
  }

  /** Nobody knows how it is: whatever it is told fails, until it is shown again. */
  lost(): void {
    this.#plan = withoutNow(this.#plan);
    this.#tell = null;
    this.#bring(false);
  }

  /** The turn of figures that always move. */
  turn(): void {
    this.#bring(true);
  }

  /** It is gone for good. */
  remove(): void {
    this.#isClosed = true;
    const { inTurn, warn } = this.#through;
    inTurn(async () => {
      if (this.#shape !== null) await this.#unregister();
    }).catch((error: unknown) => warn(`${this.#plan.name} was not removed from Matter: ${String(error)}`));
  }

  #bring(turn: boolean): void {
    if (this.#isMoving || this.#isClosed) return;
    if (this.#shape === shapeOf(this.#plan)) this.#update(turn);
    else void this.#move();
  }

  /** Takes it in, or in again where it is made of other parts. */
  async #move(): Promise<void> {
    this.#isMoving = true;
    const { inTurn, warn } = this.#through;
    try {
      await inTurn(async () => {
        if (this.#isClosed) return;
        if (this.#shape !== null) await this.#unregister();
        await this.#register();
      });
      this.#isMoving = false;
      this.#bring(false);
    } catch (error) {
      // It stays as if it moved: a device that Homebridge refuses would be refused again.
      warn(`${this.#plan.name} is not shown in Matter: ${String(error)}`);
    }
  }

  async #register(): Promise<void> {
    const plan = this.#plan;
    const { matter } = this.#through;
    await matter.registerPlatformAccessories(pluginName, platformName, [this.#accessory(plan)]);
    await this.#until(true);
    this.#shape = shapeOf(plan);
    // Homebridge may have put in what it remembers: everything is told anew.
    this.#told.clear();
    this.#told.set("", { bridgedDeviceBasicInformation: { nodeLabel: plan.name } });
  }

  async #unregister(): Promise<void> {
    const { matter } = this.#through;
    await matter.unregisterPlatformAccessories(pluginName, platformName, [this.#accessory(this.#plan)]);
    await this.#until(false);
    this.#shape = null;
  }

  async #until(isThere: boolean): Promise<void> {
    for (let waited = 0; waited < patience; waited += lookEvery) {
      const state = await this.#through.matter.getAccessoryState(this.#uuid, "bridgedDeviceBasicInformation");
      if ((state !== undefined) === isThere) return;
      await pause(lookEvery);
    }
    throw new Error(`Homebridge has not ${isThere ? "taken it in" : "let it go"} within ${patience / 1000} s`);
  }

  #update(turn: boolean): void {
    const { name, reachable, clusters, parts } = this.#plan;
    this.#push("", { ...clusters, bridgedDeviceBasicInformation: { nodeLabel: name, reachable } }, turn);
    for (const part of parts) this.#push(part.id, part.clusters, turn);
  }

  #push(partId: string, clusters: States, turn: boolean): void {
    const told = this.#told.get(partId) ?? {};
    const changes = due(told, clusters, turn);
    const after = Object.entries(changes).map(([cluster, each]) => [cluster, { ...told[cluster], ...each }]);
    this.#told.set(partId, { ...told, ...Object.fromEntries(after) });
    for (const [cluster, attributes] of Object.entries(changes)) this.#send(cluster, attributes, partId);
  }

  #send(cluster: string, attributes: Readonly<Record<string, unknown>>, partId = ""): void {
    const { matter, warn } = this.#through;
    matter
      .updateAccessoryState(this.#uuid, cluster, { ...attributes }, ...(partId === "" ? [] : [partId]))
      .catch((error: unknown) => warn(`${this.#plan.name}: ${String(error)}`));
  }

  #accessory(plan: DevicePlan): MatterAccessory {
    const { key, type, name, information, host, clusters, parts } = plan;
    const { deviceTypes } = this.#through.matter;
    const context: Context = { key, type, host };
    return {
      UUID: this.#uuid,
      displayName: name,
      deviceType: deviceTypes[type],
      manufacturer: information.manufacturer,
      model: information.model,
      serialNumber: information.serial,
      firmwareRevision: information.firmware,
      context: { ...context },
      clusters: complete(type, clusters),
      handlers: this.#handlers(type),
      parts: parts.map((part: PartPlan) => ({
        id: part.id,
        displayName: part.name,
        deviceType: deviceTypes.TemperatureSensor,
        clusters: { ...part.clusters },
      })),
    };
  }

  #handlers(type: DeviceType): NonNullable<MatterAccessory["handlers"]> {
    if (type === "OnOffOutlet")
      return {
        onOff: {
          on: () => this.#wish(({ on }) => on?.(true)),
          off: () => this.#wish(({ on }) => on?.(false)),
          // It calls one of the others.
          toggle: () => {},
        },
      };
    if (type === "ElectricalSensor") return {};
    return {
      thermostat: {
        occupiedHeatingSetpointChange: ({ occupiedHeatingSetpoint }) => this.#target(occupiedHeatingSetpoint),
        systemModeChange: ({ systemMode }) => this.#mode(systemMode),
        // It changes the setpoint.
        setpointRaiseLower: () => {},
      },
    };
  }

  /** Homebridge calls this for what it was told by us, too. */
  async #target(setpoint: number): Promise<void> {
    if (this.#toldOf("thermostat", "occupiedHeatingSetpoint") === setpoint) return;
    await this.#wish(({ target }) => target?.(celsius(setpoint)));
    this.#isNow({ occupiedHeatingSetpoint: setpoint });
  }

  /** Too late to refuse it, so where it is not done it goes back. */
  async #mode(mode: number): Promise<void> {
    const before = this.#toldOf("thermostat", "systemMode");
    if (before === mode) return;
    try {
      await this.#wish(({ on }) => on?.(mode !== modes.off));
      this.#isNow({ systemMode: mode });
    } catch {
      this.#send("thermostat", { systemMode: before });
    }
  }

  #toldOf(cluster: string, attribute: string): unknown {
    return this.#told.get("")?.[cluster]?.[attribute];
  }

  #isNow(attributes: Readonly<Record<string, unknown>>): void {
    const told = this.#told.get("") ?? {};
    this.#told.set("", { ...told, thermostat: { ...told.thermostat, ...attributes } });
  }

  async #wish(tellingOf: (tellable: Tellable) => Telling | undefined): Promise<void> {
    const tell = this.#tell;
    const telling = tellingOf(this.#plan.tell);
    const { matter, warn } = this.#through;
    if (tell === null || telling === undefined) throw new matter.status.Failure("Nobody knows now how it is");
    try {
      await tell(telling);
    } catch (error) {
      const { status, message } = matterError(error);
      warn(`${this.#plan.name}: ${message}`);
      throw new matter.status[status](message);
    }
  }
}

/** What of a plan makes a device what it is to a controller. */
const shapeOf = ({ clusters, parts }: DevicePlan): string =>
  [...Object.keys(clusters), ...parts.map(({ id }) => id)].join();

/** With what Matter must have, where nobody knows it yet: the device is not reachable then. */
function complete(type: DeviceType, clusters: Clusters): NonNullable<MatterAccessory["clusters"]> {
  if (type === "OnOffOutlet") return { ...clusters, onOff: { onOff: false, ...clusters.onOff } };
  if (type === "Thermostat" && clusters.thermostat !== undefined)
    return { ...clusters, thermostat: { systemMode: modes.heat, ...clusters.thermostat } };
  return { ...clusters };
}
