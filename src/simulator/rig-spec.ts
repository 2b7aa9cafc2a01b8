import { type AntminerModelName, antminerModels } from "./antminer/models.ts";
import type { AvalonGeneration } from "./avalon/state.ts";
import type { BraiinsGeneration } from "./braiins/rig.ts";
import type { DialectName } from "./cgminer/dialects.ts";
import type { FaultSetting } from "./faults.ts";
import { type HardwareName, hardware } from "./hardware.ts";
import { type PoolSpec, poolsOf, RigModel } from "./model.ts";
import type { VnishVersion } from "./vnish/rig.ts";
import type { Generation as WhatsminerGeneration } from "./whatsminer/state.ts";

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
  /** What a group of its own (`api-groups`) lets everybody have besides the reports, in place of all or nothing. */
  readonly grants?: readonly string[];
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

export interface BraiinsSpec extends CommonSpec {
  readonly kind: "braiins";
  /** BOSminer is of 22.08 and has GraphQL, BOSer of 25.07 and has REST; "boser" when left out. */
  readonly generation?: BraiinsGeneration;
  /** Of the user root; empty, as it ships, when left out. */
  readonly password?: string;
  /** Seconds that an unused token or session lives; an hour when left out. */
  readonly tokenSeconds?: number;
}

export interface AvalonSpec extends CommonSpec {
  readonly kind: "avalon";
  /** "q" when left out. */
  readonly generation?: AvalonGeneration;
  /** Of its web page; "root" when left out. */
  readonly password?: string;
  /** Firmware that lists its options; true when left out. */
  readonly helps?: boolean;
}

export interface WhatsminerSpec extends CommonSpec {
  readonly kind: "whatsminer";
  /** An M20S of 2021, an M50S of 2023, an M60S of 2025; "v2" when left out. */
  readonly generation?: WhatsminerGeneration;
  /** Of its API; "admin", from v3 on "super", as it ships, when left out. */
  readonly password?: string;
  /** Whether its API is switched on for writing; true when left out. */
  readonly writable?: boolean;
  /** Whether v3 has v2 beside it; true when left out. */
  readonly compatible?: boolean;
  /** Codes of errors that it shows. */
  readonly errors?: readonly number[];
}

export interface AntminerSpec extends CommonSpec {
  readonly kind: "antminer";
  /** An S9 has the old web interface, the others the new one; "S19" when left out. */
  readonly model?: AntminerModelName;
  /** Of the user root of its web; "root", as it ships, when left out. */
  readonly password?: string;
  /** What answers; "both" when left out. */
  readonly speaks?: "both" | "rpc" | "web";
  /** Takes its mode only as text, as some S19j do. */
  readonly modeAsText?: boolean;
  /** Seconds for which a challenge of its login is good; ten minutes when left out. */
  readonly nonceSeconds?: number;
}

export interface LuxosSpec extends CommonSpec {
  readonly kind: "luxos";
  /** Whether it joins reports with `+`; true when left out. */
  readonly joins?: boolean;
  /** Whether its thermal management is on; false when left out. */
  readonly managed?: boolean;
}

export interface VnishSpec extends CommonSpec {
  readonly kind: "vnish";
  /** "1.3.4" when left out. */
  readonly version?: VnishVersion;
  /** Of its web; "admin", as it ships, when left out. */
  readonly password?: string;
  /** A stored API key; none when left out. */
  readonly apiKey?: string;
  /** Seconds that a token lives; ten minutes when left out. */
  readonly tokenSeconds?: number;
  /** Whether it shows stars in place of its pools' passwords; false when left out. */
  readonly hidesPasswords?: boolean;
  /** Whether it moves between presets by itself; false when left out. */
  readonly switchesPresets?: boolean;
}

export type RigSpec =
  | AntminerSpec
  | WhatsminerSpec
  | AvalonSpec
  | CgminerSpec
  | AxeosSpec
  | XmrigSpec
  | BraiinsSpec
  | LuxosSpec
  | VnishSpec;

export type RigKind = RigSpec["kind"];

/** What a rig is called, by its place in the farm where it has no name of its own. */
export const rigName = ({ name, kind }: RigSpec, index: number): string => name ?? `${kind}-${index + 1}`;

/** Where each kind listens by custom; XMRig has no port of its own, so this is our choice. */
export const standardPorts: Readonly<Record<RigKind, readonly [number, ...number[]]>> = {
  antminer: [80, 4028],
  cgminer: [4028],
  luxos: [4028, 80],
  vnish: [80, 4028],
  axeos: [80],
  xmrig: [8080],
  whatsminer: [4028, 4433, 80],
  avalon: [4028, 80],
  braiins: [80, 4028],
};

const isKind = (word: string): word is RigKind => Object.hasOwn(standardPorts, word);
export const rigKinds: readonly RigKind[] = Object.keys(standardPorts).filter(isKind);

const dialectHardware = {
  cgminer: "boards",
  bfgminer: "boards",
  bmminer: "antminer",
} as const satisfies Record<DialectName, HardwareName>;

const avalonHardware = {
  "a-series": "avalonA",
  nano3: "avalonNano3",
  nano3s: "avalonNano3s",
  mini3: "avalonMini3",
  q: "avalonQ",
} as const satisfies Record<AvalonGeneration, HardwareName>;

const whatsminerHardware = {
  v1: "m20s",
  v2: "m50s",
  v3: "m60s",
} as const satisfies Record<WhatsminerGeneration, HardwareName>;

function hardwareOf(spec: RigSpec): HardwareName {
  if (spec.hardware !== undefined) return spec.hardware;
  if (spec.kind === "antminer") return antminerModels[spec.model ?? "S19"].hardware;
  if (spec.kind === "axeos") return "bitaxe";
  if (spec.kind === "luxos") return "s19kpro";
  if (spec.kind === "vnish") return "antminer";
  if (spec.kind === "whatsminer") return whatsminerHardware[spec.generation ?? "v2"];
  if (spec.kind === "avalon") return avalonHardware[spec.generation ?? "q"];
  if (spec.kind === "braiins") return spec.generation === "bosminer" ? "s9" : "antminer";
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
function defaultDifficulty(name: HardwareName): number {
  const { hashrate, hashesPerDifficulty } = hardware[name];
  return 2 ** Math.max(0, Math.round(Math.log2((hashrate * shareSeconds) / hashesPerDifficulty)));
}

export function modelOf(spec: RigSpec, name: string, now: () => number, seed: number): RigModel {
  const kind = hardwareOf(spec);
  return new RigModel({
    hardware: hardware[kind],
    pools: poolsOf(spec.pools ?? defaultPools(spec.kind, name), defaultDifficulty(kind)),
    now,
    seed,
    warm: spec.warm ?? false,
  });
}
