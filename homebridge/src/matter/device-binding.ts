import { isDeepStrictEqual } from "node:util";
import type { MatterAccessory, MatterAPI } from "homebridge";
import { type BackOff, backOffMs } from "rigbridge/farm";
import type { Information } from "../accessory-texts.ts";
import { failureOf } from "../failure.ts";
import { platformName, pluginName } from "../names.ts";
import { type CommandRequest, inWords, type SendCommand } from "../send-command.ts";
import { modes } from "./devices.ts";
import { type Attributes, due, type States } from "./due.ts";
import type { Clusters, DeviceCommands, DevicePlan, DeviceType } from "./plan.ts";
import { type Context, withoutReadings } from "./remembered.ts";

export interface DeviceContext {
  readonly matter: MatterAPI;
  readonly warn: (message: string) => void;
  readonly info: (message: string) => void;
  /** One after the other: Homebridge registers simultaneous devices in any order, without reporting it. */
  readonly inTurn: (work: () => Promise<void>) => Promise<void>;
  /** Waits that many ms, or until Homebridge stops; never rejects. */
  readonly pause: (ms: number) => Promise<void>;
  /** Aborted when Homebridge stops. */
  readonly closing: AbortSignal;
}

/** Between two checks whether Homebridge has registered or removed a device, and for all of them. */
const checkIntervalMs = 25;
const timeoutMs = 30_000;
/** Before a failed registration is retried, the first time and at most: others wait for it in the meantime. */
const retryDelays: BackOff = { firstMs: 30_000, longestMs: 600_000 };

/** Keeps a device in Homebridge in line with a plan, or in an unknown state. */
export class DeviceBinding {
  readonly #uuid: string;
  readonly #context: DeviceContext;
  #plan: DevicePlan;
  #sendCommand: SendCommand | null = null;
  #state: "new" | "registering" | "registered" | "closed" = "new";
  /** Homebridge was asked to register it, and may not have done so yet. */
  #isRequested = false;
  /** Failed registrations in a row. */
  #failures = 0;
  /** The attributes that controllers have. */
  #reported: States = {};
  /** The description that Homebridge has kept since its last run; null = the device is new. */
  #stored: Description | null;

  constructor(plan: DevicePlan, context: DeviceContext, isRemembered: boolean) {
    this.#uuid = context.matter.uuid.generate(`rigbridge:matter:${plan.key}`);
    this.#context = context;
    this.#plan = plan;
    this.#stored = isRemembered ? descriptionOf(plan) : null;
  }

  get plan(): DevicePlan {
    return this.#plan;
  }

  /** Brings Homebridge in line with the plan. */
  show(plan: DevicePlan, sendCommand: SendCommand): void {
    this.#plan = plan;
    this.#sendCommand = sendCommand;
    this.#apply(false);
  }

  /** The state is unknown: commands fail until the device is shown again. */
  lost(): void {
    this.#plan = withoutReadings(this.#plan);
    this.#sendCommand = null;
    this.#apply(false);
  }

  /** The regular report, with values that always move. */
  report(): void {
    this.#apply(true);
  }

  /** Removes it permanently. */
  remove(): void {
    this.#state = "closed";
    const { inTurn, warn } = this.#context;
    inTurn(() => this.#unregister()).catch((error: unknown) =>
      warn(`${this.#plan.name} was not removed from Matter: ${String(error)}`),
    );
  }

  #apply(isRegular: boolean): void {
    if (this.#state === "new") void this.#register();
    if (this.#state === "registered") this.#update(isRegular);
  }

  async #register(): Promise<void> {
    this.#state = "registering";
    const { inTurn, matter, warn } = this.#context;
    try {
      await inTurn(async () => {
        if (this.#state === "closed") return;
        // Homebridge may have registered it late, and refuses devices that it has.
        const isLate = this.#isRequested && (await this.#exists());
        if (!isLate) await matter.registerPlatformAccessories(pluginName, platformName, [this.#accessory(this.#plan)]);
        this.#isRequested = true;
        await this.#until(true);
      });
      if (this.#state !== "registering") return;
      this.#state = "registered";
      // Homebridge may have overwritten registered values with remembered ones, so all are reported.
      this.#update(false);
    } catch (error) {
      if (this.#context.closing.aborted) return;
      if (this.#failures === 0) warn(`${this.#plan.name} is not shown in Matter: ${String(error)}; retrying`);
      await this.#registerAgain();
    }
  }

  async #registerAgain(): Promise<void> {
    this.#failures += 1;
    await this.#context.pause(backOffMs(this.#failures, retryDelays));
    if (this.#context.closing.aborted || this.#state !== "registering") return;
    this.#state = "new";
    this.#apply(false);
  }

  async #unregister(): Promise<void> {
    const { matter } = this.#context;
    await matter.unregisterPlatformAccessories(pluginName, platformName, [this.#accessory(this.#plan)]);
    await this.#until(false);
    // Its state disappears a moment before the device.
    await this.#context.pause(checkIntervalMs);
  }

  async #exists(): Promise<boolean> {
    const state = await this.#context.matter.getAccessoryState(this.#uuid, "bridgedDeviceBasicInformation");
    return state !== undefined;
  }

  async #until(exists: boolean): Promise<void> {
    for (let waited = 0; waited < timeoutMs && !this.#context.closing.aborted; waited += checkIntervalMs) {
      if ((await this.#exists()) === exists) return;
      await this.#context.pause(checkIntervalMs);
    }
    throw new Error(`Homebridge did not ${exists ? "register" : "remove"} it within ${timeoutMs / 1000} s`);
  }

  #update(isRegular: boolean): void {
    const { name, reachable, clusters } = this.#plan;
    this.#store(descriptionOf(this.#plan));
    const present = { ...clusters, bridgedDeviceBasicInformation: { nodeLabel: name, reachable } };
    for (const [cluster, attributes] of Object.entries(due(this.#reported, present, isRegular))) {
      this.#setReported(cluster, attributes);
      this.#send(cluster, attributes);
    }
  }

  /** Keeps the description for the next start. Homebridge does so only for devices that it remembers. */
  #store(description: Description): void {
    if (this.#stored === null || isDeepStrictEqual(this.#stored, description)) return;
    this.#stored = description;
    const { matter, warn } = this.#context;
    matter
      .updatePlatformAccessories([this.#described(this.#plan)])
      .catch((error: unknown) => warn(`${this.#plan.name}: ${String(error)}`));
  }

  #send(cluster: string, attributes: Attributes): void {
    const { matter, warn } = this.#context;
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
      deviceType: this.#context.matter.deviceTypes[plan.type],
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
          on: () => this.#command(({ on }) => on?.(true)),
          off: () => this.#command(({ on }) => on?.(false)),
          // Homebridge calls one of the others.
          toggle: () => {},
        },
      };
    if (type !== "Thermostat") return {};
    return {
      thermostat: {
        occupiedHeatingSetpointChange: ({ occupiedHeatingSetpoint: setpoint }) =>
          this.#set("occupiedHeatingSetpoint", setpoint, ({ target }) => target?.(setpoint / 100)),
        systemModeChange: ({ systemMode }) =>
          this.#set("systemMode", systemMode, ({ on }) => on?.(systemMode !== modes.off)),
        // Homebridge changes the setpoint.
        setpointRaiseLower: () => {},
      },
    };
  }

  /**
   * A controller has set an attribute. Homebridge also calls this for attributes that the plugin set, and too late to
   * refuse, so an attribute whose command fails is set back.
   */
  async #set(attribute: string, value: number, requestOf: RequestOf): Promise<void> {
    if (this.#reported.thermostat?.[attribute] === value) return;
    try {
      await this.#command(requestOf);
      this.#setReported("thermostat", { [attribute]: value });
    } catch {
      this.#send("thermostat", { [attribute]: this.#reported.thermostat?.[attribute] });
    }
  }

  #setReported(cluster: string, attributes: Attributes): void {
    this.#reported = { ...this.#reported, [cluster]: { ...this.#reported[cluster], ...attributes } };
  }

  async #command(requestOf: RequestOf): Promise<void> {
    const sendCommand = this.#sendCommand;
    const request = requestOf(this.#plan.commands);
    const { matter, warn, info } = this.#context;
    if (sendCommand === null || request === undefined)
      throw new matter.status.Failure("The state of this device is unknown at present");
    info(`${this.#plan.name}: a Matter controller ${inWords(request)}`);
    try {
      await sendCommand(request);
    } catch (error) {
      const { status, message } = failureOf(error);
      warn(`${this.#plan.name}: ${message}`);
      throw new matter.status[status](message);
    }
  }
}

type RequestOf = (commands: DeviceCommands) => CommandRequest | undefined;

/** What Homebridge keeps besides the state. */
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

/** Adds attributes that Matter requires and that are not known yet; the device is not reachable then. */
function complete(type: DeviceType, clusters: Clusters): NonNullable<MatterAccessory["clusters"]> {
  if (type === "OnOffOutlet") return { ...clusters, onOff: { onOff: false, ...clusters.onOff } };
  if (type === "Thermostat" && clusters.thermostat !== undefined)
    return { ...clusters, thermostat: { systemMode: modes.heat, ...clusters.thermostat } };
  return { ...clusters };
}
