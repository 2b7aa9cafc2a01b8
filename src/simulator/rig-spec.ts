import type { DialectName } from "./dialects.ts";
import type { FaultSetting } from "./faults.ts";
import { type HardwareName, hardware } from "./hardware.ts";
import { type Pool, RigModel } from "./model.ts";

/** A pool to start with; nothing is ever connected to. */
export interface PoolSpec {
  readonly url: string;
  readonly user: string;
  readonly password?: string;
  /** Of a share; what is left out gives a share every few seconds. */
  readonly difficulty?: number;
  readonly alive?: boolean;
  readonly enabled?: boolean;
}

interface CommonSpec {
  /** Host name, worker id; made from the kind and the place in the farm when left out. */
  readonly name?: string;
  /** 127.0.0.1 when left out. */
  readonly host?: string;
  /** 0, any free one, when left out. */
  readonly port?: number;
  /** In place of one port for all that it speaks: its usual ones, so that its address needs none. */
  readonly usualPorts?: true;
  /** Made from the place in the farm when left out; always locally administered. */
  readonly mac?: string;
  readonly hardware?: HardwareName;
  readonly pools?: readonly PoolSpec[];
  /** It has been running for an hour; else it starts now. */
  readonly warm?: boolean;
  /** How long a restart keeps it from answering; 3 s when left out. */
  readonly restartSeconds?: number;
  readonly fault?: FaultSetting;
}

export interface CgminerSpec extends CommonSpec {
  readonly kind: "cgminer";
  readonly dialect?: DialectName;
  /** Whether it lets everybody change it; true when left out. */
  readonly privileged?: boolean;
}

export interface AxeosSpec extends CommonSpec {
  readonly kind: "axeos";
  /** Firmware that knows pause and resume; true when left out. */
  readonly pausable?: boolean;
}

export interface XmrigSpec extends CommonSpec {
  readonly kind: "xmrig";
  /** Access token; without one a rig that is not restricted refuses everything. */
  readonly token?: string;
  /** True, as in XMRig itself, when left out. */
  readonly restricted?: boolean;
}

export type RigSpec = CgminerSpec | AxeosSpec | XmrigSpec;

export type RigKind = RigSpec["kind"];

/** What a rig is called, by its place in the farm where it has no name of its own. */
export const rigName = ({ name, kind }: RigSpec, index: number): string => name ?? `${kind}-${index + 1}`;

/** Where each kind listens by custom; XMRig has no port of its own, so this is our choice. */
export const standardPorts: Readonly<Record<RigKind, readonly [number, ...number[]]>> = {
  cgminer: [4028],
  axeos: [80],
  xmrig: [8080],
};

const dialectHardware = {
  cgminer: "boards",
  bfgminer: "boards",
  bmminer: "antminer",
} as const satisfies Record<DialectName, HardwareName>;

function hardwareOf(spec: RigSpec): HardwareName {
  if (spec.hardware !== undefined) return spec.hardware;
  if (spec.kind === "axeos") return "bitaxe";
  return spec.kind === "xmrig" ? "processor" : dialectHardware[spec.dialect ?? "cgminer"];
}

/** Invented hosts: nobody answers at them, and nobody is asked. */
const defaultPools = (kind: RigKind, name: string): PoolSpec[] => {
  const scheme = kind === "xmrig" ? "" : "stratum+tcp://";
  const pool = { user: `acct.${name}`, password: "x" };
  return [
    { ...pool, url: `${scheme}pool.example.com:3333` },
    { ...pool, url: `${scheme}backup.example.net:3333` },
  ];
};

const shareSeconds = 8;

/** A power of two, as pools set it, that gives a share every eight seconds or so. */
function usualDifficulty(name: HardwareName): number {
  const { hashrate, hashesPerDifficulty } = hardware[name];
  return 2 ** Math.max(0, Math.round(Math.log2((hashrate * shareSeconds) / hashesPerDifficulty)));
}

export function poolsOf(specs: readonly PoolSpec[], difficulty: number): Pool[] {
  return specs.map((pool, priority) => ({
    url: pool.url,
    user: pool.user,
    password: pool.password ?? "x",
    difficulty: pool.difficulty ?? difficulty,
    enabled: pool.enabled ?? true,
    alive: pool.alive ?? true,
    priority,
    quota: 1,
    hashes: 0,
    lastShareAt: null,
  }));
}

export function modelOf(spec: RigSpec, name: string, now: () => number, seed: number): RigModel {
  const kind = hardwareOf(spec);
  return new RigModel({
    hardware: hardware[kind],
    pools: poolsOf(spec.pools ?? defaultPools(spec.kind, name), usualDifficulty(kind)),
    now,
    seed,
    warm: spec.warm ?? false,
  });
}
