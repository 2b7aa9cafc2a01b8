import type { Control, ControlKey, ControlValue, Identity, ReasonCode, RigReadings } from "../contract/readings.ts";
import type { Link } from "./link.ts";

/**
 * A driver is one file with one object: what it speaks, how it recognises a device, how it reads it, and which
 * controls it has. It knows nothing of the fleet, the store or a front end.
 */
export interface Driver {
  /** Stable name, as in the configuration's `driver`. */
  readonly id: string;
  /** For people: "AxeOS (Bitaxe)". */
  readonly name: string;
  /** On which ports it usually listens, most usual first. Empty: it has no usual port. */
  readonly ports: readonly number[];
  /** With what its maker ships it; used only where the owner allows that and has given nothing else. */
  readonly makersLogin?: Login;
  /** The login that it takes; absent: it has none, or needs none where it answers without. */
  readonly login?: LoginNeed;
  /** From what its readings and its controls are known, for the table of devices. */
  readonly evidence: { readonly readings: Evidence; readonly controls: Evidence };
  /** Pure. What these signs say of the device; `ask` wants one more HTTP path fetched; undefined is "not mine". */
  recognise(signs: Signs): Partial<Identity> | Question | undefined;
  /** Opens no connection by itself. */
  connect(link: Link): Rig;
}

/** What of a login is given for a device, and what that adds to what it does without. */
export interface LoginNeed {
  readonly keys: readonly ("username" | "password" | "token")[];
  /** After "with it the rig can be": "steered". */
  readonly adds: string;
}

export interface Login {
  readonly username: string;
  readonly password: string;
}

/** `ran`: tried with the real software; `recorded`: what a real device answered; else where it is described. */
export type Evidence = "ran" | "recorded" | "vendor document" | "other source";

/**
 * One more HTTP path to fetch, `withToken` when the signs so far justify sending the rig's token; or one more RPC
 * command that reports.
 */
export type Question = { readonly ask: string; readonly withToken?: boolean } | { readonly command: string };

/** What was gathered once from an address, before any driver was chosen. */
export interface Signs {
  /** The answer to GET /, null when nothing speaks HTTP there. */
  readonly root: HttpSign | null;
  /** The parsed answer to the RPC `version`, null when nothing speaks it there. */
  readonly version: unknown;
  /** Answers to what drivers asked for, by path. */
  readonly asked: Readonly<Record<string, HttpSign | null>>;
  /** Answers to the RPC commands that drivers asked for, by command; null for what was not answered. */
  readonly told: Readonly<Record<string, unknown>>;
}

export interface HttpSign {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** At most 64 KB of it. */
  readonly body: string;
}

/** One device, spoken to. Calls on a rig never overlap: its owner keeps one exchange at a time. */
export interface Rig {
  /** Throws only when the device cannot be reached or its framing is broken; an odd field is null and a note. */
  read(signal: AbortSignal): Promise<Reading>;
  /**
   * Tells the device one thing, once, never twice. Resolves with the device's own words.
   * Throws `rig.refused` with the device's words, `control.absent`, `rig.unreachable` or `rig.timeout`; and
   * `SessionEnded` when the device no longer takes the session that was kept, and did nothing.
   */
  set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string>;
  /** What can be done to pools; `Reading.poolActions` says which of it the device allows now. */
  readonly pools: PoolControls;
  /** A read is one exchange that can be cut for a command: nothing is lost with it. */
  readonly quick?: true | undefined;
  /** The next read asks anew what the device has once said of itself: another may have its address by now. */
  doubt?(): void;
  /** Cuts what is open. */
  close(): void;
}

/** Done to a pool that the device lists. */
export type ListedPoolAction = "switch" | "enable" | "disable" | "remove" | "prioritize";
export type PoolAction = "add" | "use" | ListedPoolAction;

/** Each takes a pool as just read from the device and resolves with the device's own words. */
export interface PoolControls {
  add?(login: PoolLogin, signal: AbortSignal): Promise<string>;
  /** Mines there from now on, in place of the pool mined at: for devices that cannot choose among those they list. */
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
}

/** How to log in to a pool. */
export interface PoolLogin {
  readonly url: string;
  readonly worker: string;
  readonly password: string;
}

/** One read of a device. */
export interface Reading {
  /** What this read says of the device's identity; null where it does not say. */
  readonly identity: Identity;
  readonly readings: RigReadings;
  readonly pools: readonly PoolReading[];
  readonly devices: readonly DeviceReading[];
  /** What the device can be told now. */
  readonly controls: readonly Control[];
  readonly poolActions: readonly PoolAction[];
  /** What keeps the rest of its controls back; absent where nothing is known to. */
  readonly locked?: Locked;
  /** Why it does not take a pool action now that devices like it take. */
  readonly poolsWithheld?: Partial<Readonly<Record<PoolAction, string>>>;
  /** s that a change of its pools takes to show, where that is long: it restarts for it. */
  readonly poolSeconds?: number;
  /** Id of the mining software as in GET /api/miningsoftware, null when unknown. */
  readonly software: string | null;
  /** Seconds over which `hashrate` is averaged by the device. */
  readonly logInterval: number | null;
  /** Difficulty-1 shares per minute. */
  readonly workUtility: number | null;
  /** Wh that the rig's meter has counted, where it has one; it may be set back. */
  readonly meter?: number;
  /** It says that it is starting to mine. */
  readonly starting?: boolean;
  /** Why it does not hash, where it says that and nothing else of this reading does; of no matter while it hashes. */
  readonly halt?: Halt | undefined;
  /** It is without power: what is said of its shape is remembered, and nothing of it was asked. */
  readonly off?: true;
}

/** A device that can be read and not told everything. */
export interface Locked {
  readonly why: "login missing" | "login wrong" | "read-only";
  /** What is kept back, or what helps; it stands among the notes too. */
  readonly text: string;
}

/** A pool as the device lists it. */
export interface PoolReading {
  /** The device's own index; it moves when pools are removed, so nothing outside the driver keeps it. */
  readonly index: number;
  /** With its scheme as the device says it: stratum+tcp://host:port. */
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
  /** Belongs to the firmware's maker: shown, never steered. */
  readonly devFee: boolean;
  /** The device cannot be without it. */
  readonly fixed?: true;
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
}
