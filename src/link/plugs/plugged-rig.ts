import { setTimeout as sleep } from "node:timers/promises";
import type { PlugSettings } from "../../contract/plug-settings.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import {
  type Control,
  type ControlKey,
  type ControlValue,
  unknownBoard,
  unknownReadings,
} from "../../contract/readings.ts";
import { toggle } from "../controls.ts";
import type { PoolControls, Reading, Rig } from "../driver.ts";
import { unknownIdentity } from "../identity.ts";
import type { Plug, PlugState } from "./plug.ts";

/** What is known of a rig that is off: what it offers and has when it is on. */
export interface Known {
  readonly controls: readonly Control[];
  readonly layout: { readonly boards: readonly number[]; readonly fans: number };
}

export interface SuppliedRigOptions {
  /** Whoever opened it closes it. */
  readonly plug: Plug;
  readonly supply: Pick<PlugSettings, "cutPower" | "delay">;
  /** Finds the rig behind the plug; called when it is on. */
  readonly connect: (signal: AbortSignal) => Promise<Rig>;
  readonly known: () => Known;
}

/** s that a rig takes from power to mining, at most. */
const bootSeconds = 240;
/** For switching boards on again after a stop that was cut short; a service that ends waits for it. */
export const undoTimeoutMs = 1_500;

/** A rig together with its plug, which measures what it draws and may be what stops and starts it. */
export class PluggedRig implements Rig {
  readonly #plug: Plug;
  readonly #options: SuppliedRigOptions;
  #rig: Rig | null = null;
  /** As last read. */
  #controls: readonly Control[] = [];
  /** Whether its switch is the plug's: it has none of its own, or is off. */
  #byPlug = false;
  /** When its power came back, by the monotonic clock; null once it has answered since. */
  #bootingSince: number | null = null;
  #closed = false;

  constructor(options: SuppliedRigOptions) {
    this.#plug = options.plug;
    this.#options = options;
  }

  async read(signal: AbortSignal): Promise<Reading> {
    let plugged: PlugState | null = null;
    let trouble: string | null = null;
    try {
      plugged = await this.#plug.read(signal);
    } catch (error) {
      // The rig may well be on; only what the plug would have said is missing.
      if (!(error instanceof RigbridgeError)) throw error;
      trouble = `its plug is not read: ${error.unquoted}`;
    }
    const reading = plugged?.on === false ? this.#cut(plugged) : await this.#readRig(plugged, signal);
    this.#controls = reading.controls;
    if (trouble === null) return reading;
    return { ...reading, readings: { ...reading.readings, notes: [...reading.readings.notes, trouble] } };
  }

  async set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    if (key === "mining" && this.#byPlug) return value === true ? this.#start(signal) : this.#stop(signal);
    return this.#connected().set(key, value, signal);
  }

  get pools(): PoolControls {
    return this.#rig?.pools ?? {};
  }

  doubt(): void {
    this.#rig?.doubt?.();
  }

  close(): void {
    this.#closed = true;
    this.#disconnect();
  }

  async #readRig(plugged: PlugState | null, signal: AbortSignal): Promise<Reading> {
    try {
      this.#rig ??= await this.#options.connect(signal);
      if (this.#closed) {
        this.#disconnect();
        throw new RigbridgeError("rig.unreachable", "The rig was changed or removed");
      }
      const reading = await this.#rig.read(signal);
      this.#bootingSince = null;
      return this.#withPlug(reading, plugged);
    } catch (error) {
      const since = this.#bootingSince;
      if (since === null || plugged === null || !(error instanceof RigbridgeError)) throw error;
      const seconds = (performance.now() - since) / 1000;
      if (seconds > bootSeconds) throw error;
      this.#disconnect();
      return this.#off(plugged, `starting: its power came back ${Math.round(seconds)} s ago`);
    }
  }

  /** What the plug measures is truer than what the rig reckons, and it switches where the rig cannot. */
  #withPlug(reading: Reading, plugged: PlugState | null): Reading {
    const { controls, readings } = reading;
    this.#byPlug = this.#options.supply.cutPower && !controls.some(({ key }) => key === "mining");
    const offered = this.#byPlug ? [...controls, plugSwitch(true)] : controls;
    if (plugged === null) return { ...reading, controls: offered };
    const measured =
      plugged.power === null ? {} : ({ power: Math.max(0, plugged.power), powerSource: "measured" } as const);
    return {
      ...reading,
      controls: offered,
      readings: { ...readings, ...measured },
      ...(plugged.energy === null ? {} : { meter: plugged.energy }),
    };
  }

  /** Without power: it is off, and known to be. */
  #cut(plugged: PlugState): Reading {
    this.#disconnect();
    this.#bootingSince = null;
    if (!this.#options.supply.cutPower)
      throw new RigbridgeError("rig.unreachable", "The plug of this rig is switched off");
    return this.#off(plugged, "its plug is switched off");
  }

  #off({ power, energy }: PlugState, note: string): Reading {
    const { layout, controls } = this.#options.known();
    const silent = controls.filter(({ key }) => key !== "mining").map((control) => ({ ...control, value: null }));
    this.#byPlug = true;
    const boards = layout.boards.map(unknownBoard);
    const fans = Array.from({ length: layout.fans }, () => ({ rpm: null, percent: null }));
    return {
      identity: unknownIdentity,
      readings: {
        ...unknownReadings(),
        power: power === null ? null : Math.max(0, power),
        powerSource: power === null ? null : "measured",
        mining: false,
        boards,
        fans,
        notes: [note],
      },
      pools: [],
      devices: [],
      controls: [...silent, plugSwitch(false)],
      poolActions: [],
      software: null,
      logInterval: null,
      workUtility: null,
      off: true,
      ...(energy === null ? {} : { meter: energy }),
    };
  }

  async #start(signal: AbortSignal): Promise<string> {
    await this.#switch(true, signal);
    this.#bootingSince = performance.now();
    return "The plug has switched the rig on";
  }

  /** Its boards are told to stop first, where they can be told so, and have the delay to cool down. */
  async #stop(signal: AbortSignal): Promise<string> {
    const boards = this.#controls
      .filter(({ key, lasting, value }) => key.startsWith("board_") && !lasting && value !== false)
      .map(({ key }) => key);
    await this.#turn(boards, false, signal);
    try {
      await sleep(this.#options.supply.delay * 1000, null, { signal });
      await this.#switch(false, signal);
    } catch (error) {
      // What cut the stop short must not cut this short too: a rig without boards would stay powered.
      await this.#turn(boards, true, AbortSignal.timeout(undoTimeoutMs));
      if (error instanceof RigbridgeError) throw error;
      throw new RigbridgeError("rig.timeout", "Given up before the plug was switched off");
    }
    this.#disconnect();
    return "The plug has cut the rig's power";
  }

  /** A plug that is not there has done nothing, so nobody has to wait for what came of it. */
  async #switch(on: boolean, signal: AbortSignal): Promise<void> {
    try {
      await this.#plug.switch(on, signal);
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      // Nobody knows that what answers is a plug, so its words are not told.
      if (error.code !== "rig.unreachable") throw new RigbridgeError(error.code, error.unquoted);
      throw new RigbridgeError("rig.refused", `The plug cannot be reached: ${error.unquoted}`);
    }
  }

  /** A board that is as it should be already may refuse. */
  async #turn(boards: readonly ControlKey[], on: boolean, signal: AbortSignal): Promise<void> {
    for (const board of boards) {
      try {
        await this.#rig?.set(board, on, signal);
      } catch (error) {
        if (!(error instanceof RigbridgeError)) throw error;
        // It does not matter for long: its power is about to be cut, or the rig is not there.
        if (error.code !== "rig.refused") return;
      }
    }
  }

  #connected(): Rig {
    if (this.#rig === null) throw new RigbridgeError("rig.unreachable", "The rig is without power");
    return this.#rig;
  }

  #disconnect(): void {
    this.#rig?.close();
    this.#rig = null;
  }
}

const plugSwitch = (on: boolean): Control =>
  toggle("mining", on, { lasting: true, restartsMining: true, seconds: bootSeconds });
