import type { Control, ControlKey, ControlValue, Identity, ReasonCode, RigReadings } from "../contract/readings.ts";
import type { CodedText } from "../messages/coded-text.ts";
import type { Link } from "./link.ts";

/**
 * One family of devices: its protocols, how a device is recognised and read, and its controls. A driver knows nothing
 * of the fleet, the store or a front end.
 */
export interface Driver {
  /** Stable name, as in the configuration's `driver`. */
  readonly id: string;
  /** For people: "AxeOS (Bitaxe)". */
  readonly name: string;
  /** Its usual ports, the most common first; empty where it has none. */
  readonly ports: readonly number[];
  /** The maker's default login; used only where the owner allows it and configured no login. */
  readonly makersLogin?: Login;
  /** The login that it accepts; absent where it has none or needs none. */
  readonly login?: LoginNeed;
  /** The sources of its readings and controls, for the table of devices. */
  readonly evidence: { readonly readings: Evidence; readonly controls: Evidence };
  /**
   * Pure. The identity that these signs show, a question for another sign, or undefined for a device of another family.
   */
  recognise(signs: Signs): Partial<Identity> | Question | undefined;
  /** Opens no connection. */
  connect(link: Link): Rig;
}

/** The parts of a login that a device needs, and the benefit of the login. */
export interface LoginNeed {
  readonly keys: readonly ("username" | "password" | "token")[];
  /** Completes "with its password it can be": "controlled". */
  readonly adds: string;
}

export interface Login {
  readonly username: string;
  readonly password: string;
}

/**
 * `ran`: tested with the real software; `recorded`: replies of a real device; otherwise the kind of document, or that
 * neither exists.
 */
export type Evidence = "ran" | "recorded" | "vendor document" | "other source" | `never tried; built from ${string}`;

/**
 * One more HTTP path to fetch, `withToken` when the signs so far justify sending the rig's token; one more RPC command to
 * send, which only reads; or a request of mining programs, which is sent only if HTTP and RPC have recognised nothing: a
 * method without parameters in a line of JSON, or a command in plain text.
 */
export type Question =
  | { readonly page: string; readonly withToken?: boolean }
  | { readonly command: string }
  | { readonly line: string }
  | { readonly text: string };

/** What an address answered before any driver was chosen. */
export interface Signs {
  /** The answer to GET /, null when nothing speaks HTTP there. */
  readonly root: HttpSign | null;
  /** The parsed answer to the RPC `version`, null when nothing speaks RPC there. */
  readonly version: unknown;
  /** Answers to the paths that drivers requested. */
  readonly pages: Readonly<Record<string, HttpSign | null>>;
  /** Answers to the RPC commands that drivers requested; null without an answer. */
  readonly reports: Readonly<Record<string, unknown>>;
  /** The same of methods in a line of JSON, and of commands in plain text; absent before the first was asked. */
  readonly lines?: Readonly<Record<string, unknown>>;
  readonly texts?: Readonly<Record<string, string | null>>;
  /** The port in the address; absent if it has none, in which case ASICs are tried at their usual ports. */
  readonly port?: number;
}

export interface HttpSign {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** At most 64 KB of it. */
  readonly body: string;
}

/** Brief: it is expected back at any moment. */
export type Outage = "brief" | "lasting";

/** A connection to one device. Calls never overlap: the caller runs one at a time. */
export interface Rig {
  /** Throws only when the device cannot be reached or its framing is broken; an odd field becomes null and a note. */
  read(signal: AbortSignal): Promise<Reading>;
  /**
   * Sets one control, sending the command once. Resolves with the device's own words.
   * Throws `rig.refused` with the device's words, `control.absent`, `rig.unreachable` or `rig.timeout`; and
   * `SessionEnded` when the device no longer accepts the kept session and did nothing.
   */
  set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string>;
  /** `Reading.poolActions` lists which of these the device allows now. */
  readonly pools: PoolControls;
  /** A read is short and may be aborted for a command. */
  readonly quick?: true | undefined;
  /** Of the connection to its host: during a brief one missed reads do not count; in a lasting one, one means disconnected. */
  readonly outage?: Outage | null;
  /** The next read reads the identity again: another device may have taken over the address. */
  doubt?(): void;
  /** Cancels open exchanges. */
  close(): void;
}

/** Actions on a pool that the device lists. */
export type ListedPoolAction = "switch" | "enable" | "disable" | "remove" | "prioritize";
export type PoolAction = "add" | "use" | ListedPoolAction;

/** Each takes a pool as last read and resolves with the device's own words. */
export interface PoolControls {
  add?(login: PoolLogin, signal: AbortSignal): Promise<string>;
  /** Replaces the pool in use: for devices that cannot switch between the pools that they list. */
  use?(login: PoolLogin, signal: AbortSignal): Promise<string>;
  switch?(pool: PoolReading, signal: AbortSignal): Promise<string>;
  enable?(pool: PoolReading, signal: AbortSignal): Promise<string>;
  disable?(pool: PoolReading, signal: AbortSignal): Promise<string>;
  remove?(pool: PoolReading, signal: AbortSignal): Promise<string>;
  prioritize?(pool: PoolReading, signal: AbortSignal): Promise<string>;
}

/** Why a device does not hash. */
export interface Halt {
  readonly code: ReasonCode;
  /** A sentence for people. */
  readonly text: string;
  /** The sentence by code; absent for the device's own words. */
  readonly coded?: CodedText | undefined;
}

/** A pool with its login. */
export interface PoolLogin {
  readonly url: string;
  readonly worker: string;
  readonly password: string;
}

/** One read of a device. */
export interface Reading {
  /** null where this read does not report it. */
  readonly identity: Identity;
  readonly readings: RigReadings;
  readonly pools: readonly PoolReading[];
  readonly devices: readonly DeviceReading[];
  /** The controls that the device offers now. */
  readonly controls: readonly Control[];
  readonly poolActions: readonly PoolAction[];
  /** Why the other controls are withheld; absent where none are known to be. */
  readonly locked?: Locked;
  /** Why pool actions that such devices offer are not offered now. */
  readonly poolsWithheld?: Partial<Readonly<Record<PoolAction, string>>>;
  /** s until a change of its pools shows, where the rig restarts for it. */
  readonly poolSeconds?: number;
  /** Id of the mining software as in GET /api/miningsoftware, null when unknown. */
  readonly software: string | null;
  /** Seconds over which `hashrate` is averaged by the device. */
  readonly logInterval: number | null;
  /** Difficulty-1 shares per minute. */
  readonly workUtility: number | null;
  /** Wh counted by the rig's meter, which may be reset; absent where it has none. */
  readonly meter?: number;
  /** It reports that it is starting to mine. */
  readonly starting?: boolean;
  /** Why it does not hash, where only its firmware knows; ignored while it hashes. */
  readonly halt?: Halt | undefined;
  /** It has no power and was not read; boards and fans are those of the last read. */
  readonly off?: true;
}

/** Why a device can be read but not fully controlled. */
export interface Locked {
  readonly why: "login missing" | "login wrong" | "read-only";
  /** The missing part or the remedy; repeated in the notes. */
  readonly text: string;
}

/** A pool as the device lists it. */
export interface PoolReading {
  /** The device's own index; it changes when pools are removed, so it is not stored outside the driver. */
  readonly index: number;
  /** With the scheme that the device reports: stratum+tcp://host:port. */
  readonly url: string;
  readonly worker: string;
  readonly status: "enabled" | "disabled" | "dead";
  readonly active: boolean;
  /** 0 is the highest. */
  readonly priority: number;
  readonly quota: number | null;
  readonly accepted: number | null;
  readonly rejected: number | null;
  readonly stale: number | null;
  /** Belongs to the firmware's maker: shown, never changed. */
  readonly devFee: boolean;
  /** It cannot be removed. */
  readonly fixed?: true;
  /** In use for the second algorithm; such a pool is never `active`. */
  readonly dual?: true;
}

/** One hashing device of a rig: a board, chip string, card or processor. */
export interface DeviceReading {
  readonly kind: "asic" | "pga" | "gpu" | "cpu";
  readonly name: string;
  readonly status: "enabled" | "disabled" | "sick" | "dead";
  /** H/s. */
  readonly hashrate: number | null;
  readonly hashrateAverage: number | null;
  /** °C. */
  readonly temperature: number | null;
  readonly fanRpm: number | null;
  readonly fanPercent: number | null;
  /** Hz. */
  readonly clock: number | null;
  readonly memoryClock: number | null;
  /** V. */
  readonly voltage: number | null;
  /** %. */
  readonly activity: number | null;
  readonly powertune: number | null;
  readonly intensity: string | null;
  readonly accepted: number | null;
  readonly rejected: number | null;
  readonly hardwareErrors: number | null;
  readonly workUtility: number | null;
  /** W. */
  readonly power: number | null;
  /** °C. */
  readonly memoryTemperature: number | null;
  /** Number of the PCI bus; null for other devices than cards. */
  readonly bus: number | null;
}
