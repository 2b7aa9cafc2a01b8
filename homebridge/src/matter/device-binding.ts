import { isDeepStrictEqual } from "node:util";
import type { MatterAccessory, MatterAPI } from "homebridge";
import type { Information } from "../homekit/plan.ts";
import { platformName, pluginName } from "../names.ts";
import type { CommandRequest, SendCommand } from "../send-command.ts";
import { modes } from "./devices.ts";
import { type Attributes, due, type States } from "./due.ts";
import { matterError } from "./error.ts";
import type { Clusters, DeviceCommands, DevicePlan, DeviceType } from "./plan.ts";
import { type Context, withoutNow } from "./remembered.ts";
import { celsius } from "./units.ts";

export interface DeviceContext {
  readonly matter: MatterAPI;
  readonly warn: (message: string) => void;
  /** Runs one after the other: Homebridge takes in devices that come at once in any order, and says nothing of it. */
  readonly inTurn: (work: () => Promise<void>) => Promise<void>;
  /** Waits so many ms, or until Homebridge ends; never rejects. */
  readonly pause: (ms: number) => Promise<void>;
  /** Aborted when Homebridge ends. */
  readonly closing: AbortSignal;
}

/** ms between two looks whether Homebridge has taken in a device, or let it go, and how long it is waited for. */
const lookEvery = 25;
const patience = 30_000;
/** ms until a device that was not taken in is tried again, the first time and the longest: others wait for it meanwhile. */
const firstWait = 30_000;
const longestWait = 600_000;

/** A device at Homebridge that shows a plan, or that nobody knows how it is. */
export class DeviceBinding {
  readonly #uuid: string;
  readonly #through: DeviceContext;
  #plan: DevicePlan;
  #sendCommand: SendCommand | null = null;
  #state: "new" | "moving" | "shown" | "closed" = "new";
  /** Homebridge has heard of it, though it may not have taken it in yet. */
  #isAsked = false;
  #wait = firstWait;
  /** What controllers were told. */
  #told: States = {};
  /** How Homebridge describes it from its last run on; null = it did not know it then. */
  #written: Description | null;

  /** Of a device that Homebridge remembers, or of a new one. */
  constructor(plan: DevicePlan, through: DeviceContext, isRemembered: boolean) {
    this.#uuid = through.matter.uuid.generate(`rigbridge:matter:${plan.key}`);
    this.#through = through;
    this.#plan = plan;
    this.#written = isRemembered ? descriptionOf(plan) : null;
  }

  get plan(): DevicePlan {
    return this.#plan;
  }

  /** Brings Homebridge in line with the plan. */
  show(plan: DevicePlan, sendCommand: SendCommand): void {
    this.#plan = plan;
    this.#sendCommand = sendCommand;
    this.#bring(false);
  }

  /** Nobody knows how it is: whatever it is told fails, until it is shown again. */
  lost(): void {
    this.#plan = withoutNow(this.#plan);
    this.#sendCommand = null;
    this.#bring(false);
  }

  /** The turn of figures that always move. */
  turn(): void {
    this.#bring(true);
  }

  /** It is gone for good. */
  remove(): void {
    this.#state = "closed";
    const { inTurn, warn } = this.#through;
    inTurn(() => this.#unregister()).catch((error: unknown) =>
      warn(`${this.#plan.name} was not removed from Matter: ${String(error)}`),
    );
  }

  #bring(turn: boolean): void {
    if (this.#state === "new") void this.#register();
    if (this.#state === "shown") this.#update(turn);
  }

  async #register(): Promise<void> {
    this.#state = "moving";
    const { inTurn, matter, warn } = this.#through;
    try {
      await inTurn(async () => {
        if (this.#state === "closed") return;
        // It may have been taken in late, and Homebridge refuses what it has.
        const isLate = this.#isAsked && (await this.#isThere());
        if (!isLate) await matter.registerPlatformAccessories(pluginName, platformName, [this.#accessory(this.#plan)]);
        this.#isAsked = true;
        await this.#until(true);
      });
      if (this.#state !== "moving") return;
      this.#state = "shown";
      // Homebridge may have put in what it remembers, so all is told, whatever it was registered with.
      this.#update(false);
    } catch (error) {
      if (this.#through.closing.aborted) return;
      if (this.#wait === firstWait)
        warn(`${this.#plan.name} is not shown in Matter: ${String(error)}; it is tried again`);
      await this.#registerAgain();
    }
  }

  async #registerAgain(): Promise<void> {
    const wait = this.#wait;
    this.#wait = Math.min(longestWait, wait * 2);
    await this.#through.pause(wait);
    if (this.#through.closing.aborted || this.#state !== "moving") return;
    this.#state = "new";
    this.#bring(false);
  }

  async #unregister(): Promise<void> {
    const { matter } = this.#through;
    await matter.unregisterPlatformAccessories(pluginName, platformName, [this.#accessory(this.#plan)]);
    await this.#until(false);
    // Its state is gone a moment before it is.
    await this.#through.pause(lookEvery);
  }

  async #isThere(): Promise<boolean> {
    const state = await this.#through.matter.getAccessoryState(this.#uuid, "bridgedDeviceBasicInformation");
    return state !== undefined;
  }

  async #until(isThere: boolean): Promise<void> {
    for (let waited = 0; waited < patience && !this.#through.closing.aborted; waited += lookEvery) {
      if ((await this.#isThere()) === isThere) return;
      await this.#through.pause(lookEvery);
    }
    throw new Error(`Homebridge has not ${isThere ? "taken it in" : "let it go"} within ${patience / 1000} s`);
  }

  #update(turn: boolean): void {
    const { name, reachable, clusters } = this.#plan;
    this.#write(descriptionOf(this.#plan));
    const now = { ...clusters, bridgedDeviceBasicInformation: { nodeLabel: name, reachable } };
    for (const [cluster, attributes] of Object.entries(due(this.#told, now, turn))) {
      this.#isNow(cluster, attributes);
      this.#send(cluster, attributes);
    }
  }

  /** With what it is restored at the next start. Homebridge does so only for those that it remembers from the last run. */
  #write(description: Description): void {
    if (this.#written === null || isDeepStrictEqual(this.#written, description)) return;
    this.#written = description;
    const { matter, warn } = this.#through;
    matter
      .updatePlatformAccessories([this.#described(this.#plan)])
      .catch((error: unknown) => warn(`${this.#plan.name}: ${String(error)}`));
  }

  #send(cluster: string, attributes: Attributes): void {
    const { matter, warn } = this.#through;
    matter
      .updateAccessoryState(this.#uuid, cluster, { ...attributes })
      .catch((error: unknown) => warn(`${this.#plan.name}: ${String(error)}`));
  }

  #accessory(plan: DevicePlan): MatterAccessory {
    return {
      ...this.#described(plan),
      clusters: complete(plan.type, plan.clusters),
      handlers: this.#handlers(plan.type),
    };
  }

  #described(plan: DevicePlan): MatterAccessory {
    const { name, information, context } = descriptionOf(plan);
    return {
      UUID: this.#uuid,
      displayName: name,
      deviceType: this.#through.matter.deviceTypes[plan.type],
      manufacturer: information.manufacturer,
      model: information.model,
      serialNumber: information.serial,
      firmwareRevision: information.firmware,
      context: { ...context },
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
    if (type !== "Thermostat") return {};
    return {
      thermostat: {
        occupiedHeatingSetpointChange: ({ occupiedHeatingSetpoint: setpoint }) =>
          this.#set("occupiedHeatingSetpoint", setpoint, ({ target }) => target?.(celsius(setpoint))),
        systemModeChange: ({ systemMode }) =>
          this.#set("systemMode", systemMode, ({ on }) => on?.(systemMode !== modes.off)),
        // It changes the setpoint.
        setpointRaiseLower: () => {},
      },
    };
  }

  /**
   * A controller has set it. Homebridge calls this for what it was told by us, too, and too late to refuse it, so where
   * it is not done it goes back.
   */
  async #set(attribute: string, value: number, wish: Wish): Promise<void> {
    if (this.#toldOf("thermostat", attribute) === value) return;
    try {
      await this.#wish(wish);
      this.#isNow("thermostat", { [attribute]: value });
    } catch {
      this.#send("thermostat", { [attribute]: this.#toldOf("thermostat", attribute) });
    }
  }

  #toldOf(cluster: string, attribute: string): unknown {
    return this.#told[cluster]?.[attribute];
  }

  #isNow(cluster: string, attributes: Attributes): void {
    this.#told = { ...this.#told, [cluster]: { ...this.#told[cluster], ...attributes } };
  }

  async #wish(requestOf: Wish): Promise<void> {
    const sendCommand = this.#sendCommand;
    const request = requestOf(this.#plan.commands);
    const { matter, warn } = this.#through;
    if (sendCommand === null || request === undefined) throw new matter.status.Failure("Nobody knows now how it is");
    try {
      await sendCommand(request);
    } catch (error) {
      const { status, message } = matterError(error);
      warn(`${this.#plan.name}: ${message}`);
      throw new matter.status[status](message);
    }
  }
}

type Wish = (tellable: DeviceCommands) => CommandRequest | undefined;

/** What Homebridge writes down beside the state. */
interface Description {
  readonly name: string;
  readonly information: Information;
  readonly context: Context;
}

const descriptionOf = ({ key, type, host, name, information }: DevicePlan): Description => ({
  name,
  information,
  context: { key, type, host },
});

/** With what Matter must have, where nobody knows it yet: the device is not reachable then. */
function complete(type: DeviceType, clusters: Clusters): NonNullable<MatterAccessory["clusters"]> {
  if (type === "OnOffOutlet") return { ...clusters, onOff: { onOff: false, ...clusters.onOff } };
  if (type === "Thermostat" && clusters.thermostat !== undefined)
    return { ...clusters, thermostat: { systemMode: modes.heat, ...clusters.thermostat } };
  return { ...clusters };
}
