import { setTimeout as sleep } from "node:timers/promises";
import type { PlugSettings } from "../../contract/plug-settings.ts";
import { detailIn, RigbridgeError } from "../../contract/problems.ts";
import {
  type Control,
  type ControlKey,
  type ControlValue,
  unknownBoard,
  unknownReadings,
} from "../../contract/readings.ts";
import { detail } from "../../messages/detail.ts";
import { toggle } from "../controls.ts";
import type { PoolControls, Reading, Rig } from "../driver.ts";
import { unknownIdentity } from "../identity.ts";
import type { Plug, PlugState } from "./plug.ts";

/** What a rig that is off offers and consists of when it is on. */
export interface RigShape {
  readonly controls: readonly Control[];
  readonly layout: { readonly boards: readonly number[]; readonly fans: number };
}

/** How the note of a reading begins whose plug did not answer. */
export const unreadPlug = "its plug cannot be read";

export interface PluggedRigOptions {
  /** Closed by its opener. */
  readonly plug: Plug;
  readonly settings: Pick<PlugSettings, "cutPower" | "delay">;
  /** Connects to the rig behind the plug; called while it has power. */
  readonly connect: (signal: AbortSignal) => Promise<Rig>;
  readonly shape: () => RigShape;
}

/** The longest time from power-on to mining. */
const bootSeconds = 240;
/** For switching boards on again after an aborted stop; a service that ends waits that long. */
export const undoTimeoutMs = 1_500;

/** A rig together with its plug, which measures its power and may stop and start it. */
export class PluggedRig implements Rig {
  readonly #plug: Plug;
  readonly #options: PluggedRigOptions;
  #rig: Rig | null = null;
  /** As last read. */
  #controls: readonly Control[] = [];
  /** Whether the plug is its mining switch: it has no switch of its own, or is off. */
  #byPlug = false;
  /** When its power came back, by the monotonic clock; null once it has answered. */
  #bootingSince: number | null = null;
  #closed = false;

  constructor(options: PluggedRigOptions) {
    this.#plug = options.plug;
    this.#options = options;
  }

  async read(signal: AbortSignal): Promise<Reading> {
    let plugged: PlugState | null = null;
    let trouble: string | null = null;
    try {
      plugged = await this.#plug.read(signal);
    } catch (error) {
      // The rig may still be on; only the plug's figures are missing.
      if (!(error instanceof RigbridgeError)) throw error;
      trouble = `${unreadPlug}: ${error.unquoted}`;
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
        throw new RigbridgeError("rig.unreachable", detail("link.changed"));
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

  /** The plug's measurement replaces the rig's estimate, and the plug switches where the rig cannot. */
  #withPlug(reading: Reading, plugged: PlugState | null): Reading {
    const { controls, readings } = reading;
    this.#byPlug = this.#options.settings.cutPower && !controls.some(({ key }) => key === "mining");
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

  /** The rig has no power, so it is off. */
  #cut(plugged: PlugState): Reading {
    this.#disconnect();
    this.#bootingSince = null;
    if (!this.#options.settings.cutPower) throw new RigbridgeError("rig.unreachable", detail("link.plugOff"));
    return this.#off(plugged, "its plug is switched off");
  }

  #off({ power, energy }: PlugState, note: string): Reading {
    const { layout, controls } = this.#options.shape();
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

  /** Boards that can be switched off are switched off first, and cool down during the delay. */
  async #stop(signal: AbortSignal): Promise<string> {
    const boards = this.#controls
      .filter(({ key, lasting, value }) => key.startsWith("board_") && !lasting && value !== false)
      .map(({ key }) => key);
    await this.#turn(boards, false, signal);
    try {
      await sleep(this.#options.settings.delay * 1000, null, { signal });
      await this.#switch(false, signal);
    } catch (error) {
      // The aborted signal must not abort this too: the rig would stay powered without boards.
      await this.#turn(boards, true, AbortSignal.timeout(undoTimeoutMs));
      if (error instanceof RigbridgeError) throw error;
      throw new RigbridgeError("rig.timeout", "The stop was aborted before the plug was switched off");
    }
    this.#disconnect();
    return "The plug has cut the rig's power";
  }

  /** A plug that cannot be reached has done nothing, so the command has failed for certain. */
  async #switch(on: boolean, signal: AbortSignal): Promise<void> {
    try {
      await this.#plug.switch(on, signal);
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      // What answers may not be a plug, so its words are left out.
      if (error.code !== "rig.unreachable")
        throw new RigbridgeError(error.code, error.unquoted, { coded: error.coded });
      throw new RigbridgeError("rig.refused", detail("link.plugAway", { why: detailIn(error) }));
    }
  }

  /** A board that is in this state already may refuse. */
  async #turn(boards: readonly ControlKey[], on: boolean, signal: AbortSignal): Promise<void> {
    for (const board of boards) {
      try {
        await this.#rig?.set(board, on, signal);
      } catch (error) {
        if (!(error instanceof RigbridgeError)) throw error;
        // The other boards are skipped: the power is about to be cut, or the rig does not answer.
        if (error.code !== "rig.refused") return;
      }
    }
  }

  #connected(): Rig {
    if (this.#rig === null) throw new RigbridgeError("rig.unreachable", detail("link.noPower"));
    return this.#rig;
  }

  #disconnect(): void {
    this.#rig?.close();
    this.#rig = null;
  }
}

const plugSwitch = (on: boolean): Control =>
  toggle("mining", on, { lasting: true, restartsMining: true, seconds: bootSeconds });
