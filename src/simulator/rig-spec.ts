import { type AntminerModelName, antminerModels } from "./antminer/models.ts";
import type { AvalonGeneration } from "./avalon/state.ts";
import type { BraiinsGeneration } from "./braiins/rig.ts";
import type { DialectName } from "./cgminer/dialects.ts";
import type { FaultSetting } from "./faults.ts";
import { type HardwareName, hardware } from "./hardware.ts";
import { type PoolSpec, poolsOf, RigModel } from "./model.ts";
import { isProgram, type ProgramKind, programs } from "./programs/index.ts";
import type { ProgramOptions } from "./programs/program.ts";
import type { VnishVersion } from "./vnish/rig.ts";
import type { Generation as WhatsminerGeneration } from "./whatsminer/state.ts";

interface CommonSpec {
  /** Host name and worker id; by default made from the kind and the index. */
  readonly name?: string;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 0, any free port. */
  readonly port?: number;
  /** Instead of one port for all its protocols: the standard ports, so that its address needs no port. */
  readonly usualPorts?: true;
  /** By default made from the index; always locally administered. */
  readonly mac?: string;
  readonly hardware?: HardwareName;
  readonly pools?: readonly PoolSpec[];
  /** Whether it has been running for an hour; otherwise it starts now. */
  readonly warm?: boolean;
  /** How long it does not answer after a restart; default 3 s. */
  readonly restartSeconds?: number;
  readonly fault?: FaultSetting;
}

export interface CgminerSpec extends CommonSpec {
  readonly kind: "cgminer";
  readonly dialect?: DialectName;
  /** Whether every client may write; default true. */
  readonly privileged?: boolean;
  /** Instead of `privileged`: the commands that every client may use besides reports, as an `api-groups` setting. */
  readonly grants?: readonly string[];
  /** A second algorithm of TeamRedMiner, mined at the same time; none by default. */
  readonly dualAlgorithm?: string;
}

export interface AxeosSpec extends CommonSpec {
  readonly kind: "axeos";
  /** Firmware that has pause and resume; default true. */
  readonly pausable?: boolean;
}

export interface XmrigSpec extends CommonSpec {
  readonly kind: "xmrig";
  /** Access token; without one, an unrestricted rig refuses everything. */
  readonly token?: string;
  /** Default true, as in XMRig. */
  readonly restricted?: boolean;
}

export interface BraiinsSpec extends CommonSpec {
  readonly kind: "braiins";
  /** BOSminer is 22.08 with GraphQL, BOSer is 25.07 with REST; default "boser". */
  readonly generation?: BraiinsGeneration;
  /** Password of the user root; default empty, the factory setting. */
  readonly password?: string;
  /** Seconds until an unused token or session expires; default one hour. */
  readonly tokenSeconds?: number;
}

export interface AvalonSpec extends CommonSpec {
  readonly kind: "avalon";
  /** Default "q". */
  readonly generation?: AvalonGeneration;
  /** Password of its web page; default "root". */
  readonly password?: string;
  /** Firmware that lists its options; default true. */
  readonly helps?: boolean;
}

export interface WhatsminerSpec extends CommonSpec {
  readonly kind: "whatsminer";
  /** An M20S of 2021, an M50S of 2023, an M60S of 2025; default "v2". */
  readonly generation?: WhatsminerGeneration;
  /** Password of its API; default "admin", from v3 on "super", the factory settings. */
  readonly password?: string;
  /** Whether writing over its API is enabled; default true. */
  readonly writable?: boolean;
  /** Whether v3 also has v2; default true. */
  readonly compatible?: boolean;
  /** Error codes that it reports. */
  readonly errors?: readonly number[];
}

export interface AntminerSpec extends CommonSpec {
  readonly kind: "antminer";
  /** An S9 has the old web interface, all others the new one; default "S19". */
  readonly model?: AntminerModelName;
  /** Password of the user root of its web interface; default "root", the factory setting. */
  readonly password?: string;
  /** Which interfaces answer; default "both". */
  readonly speaks?: "both" | "rpc" | "web";
  /** Accepts its mode only as text, like some S19j. */
  readonly modeAsText?: boolean;
  /** Seconds until a challenge of its login expires; default ten minutes. */
  readonly nonceSeconds?: number;
}

export interface ElphapexSpec extends CommonSpec {
  readonly kind: "elphapex";
  /** Password of the user root of its web interface; default "root", the factory setting. */
  readonly password?: string;
  /** Whether it sleeps; default false. */
  readonly asleep?: boolean;
}

export interface HammerSpec extends CommonSpec {
  readonly kind: "hammer";
  /** Password of the user root of its web interface; default "root", the factory setting. */
  readonly password?: string;
}

export interface HiveonSpec extends CommonSpec {
  readonly kind: "hiveon";
  /** Password of the user root of its web interface; default "root", the factory setting. */
  readonly password?: string;
}

export interface InnosiliconSpec extends CommonSpec {
  readonly kind: "innosilicon";
  /** Password of the user admin of its API; default "admin", the factory setting. */
  readonly password?: string;
  /** Seconds until a token expires; default one hour. */
  readonly tokenSeconds?: number;
  /** Its present error; default none. */
  readonly error?: number;
}

export interface LuxosSpec extends CommonSpec {
  readonly kind: "luxos";
  /** Whether it joins reports with `+`; default true. */
  readonly joins?: boolean;
  /** Whether its thermal management is on; default false. */
  readonly managed?: boolean;
}

export interface MaraSpec extends CommonSpec {
  readonly kind: "mara";
  /** Password of the user root of its API; default "root", the factory setting. */
  readonly password?: string;
}

export interface MskminerSpec extends CommonSpec {
  readonly kind: "mskminer";
  /** Password of the user admin of its web interface; default "root", the factory setting. */
  readonly password?: string;
}

export interface MujinaSpec extends CommonSpec {
  readonly kind: "mujina";
}

export interface VolcminerSpec extends CommonSpec {
  readonly kind: "volcminer";
  /** Password of the user root of its web interface; default "ltc@dog", the factory setting. */
  readonly password?: string;
}

export interface VnishSpec extends CommonSpec {
  readonly kind: "vnish";
  /** Default "1.3.4". */
  readonly version?: VnishVersion;
  /** Password of its web interface; default "admin", the factory setting. */
  readonly password?: string;
  /** A stored API key; default none. */
  readonly apiKey?: string;
  /** Seconds until a token expires; default ten minutes. */
  readonly tokenSeconds?: number;
  /** Whether it masks the passwords of pools; default false. */
  readonly hidesPasswords?: boolean;
  /** Whether it changes presets automatically; default false. */
  readonly switchesPresets?: boolean;
}

export interface EpicSpec extends CommonSpec {
  readonly kind: "epic";
  /** Default "letmein", the factory setting. */
  readonly password?: string;
  /** Whether its tuner can hold a power; default true. */
  readonly tunesPower?: boolean;
  /** Whether it idles while no pool answers; default false. */
  readonly idlesWithoutPool?: boolean;
}

export interface ApolloSpec extends CommonSpec {
  readonly kind: "apollo";
  /** Default "apollopass", which its owner has set. */
  readonly password?: string;
  /** Seconds until a token expires; default one hour. */
  readonly tokenSeconds?: number;
}

export interface AuradineSpec extends CommonSpec {
  readonly kind: "auradine";
  /** Default "admin", as its password: the factory settings. */
  readonly username?: string;
  readonly password?: string;
  /** Seconds until a token expires; default one hour. */
  readonly tokenSeconds?: number;
}

export interface GoldshellSpec extends CommonSpec {
  readonly kind: "goldshell";
  /** Default "admin". */
  readonly username?: string;
  /** Default "123456789", the factory setting. */
  readonly password?: string;
  /** The password as its page sends it; null for older firmware, which takes it only as it is. */
  readonly encrypted?: string | null;
  /** Whether its idle plan has a level that is not its place in the list; default false. */
  readonly skipsLevels?: boolean;
}

export interface SealminerSpec extends CommonSpec {
  readonly kind: "sealminer";
  /** Default "seal", as its password: the factory settings. */
  readonly username?: string;
  readonly password?: string;
  /** Whether every client may write over its RPC; default true. */
  readonly privileged?: boolean;
  /** Seconds until a session expires; default one hour. */
  readonly sessionSeconds?: number;
}

export interface ProtoSpec extends CommonSpec {
  readonly kind: "proto";
  /** Default "protopass", which its owner has set. */
  readonly password?: string;
  /** Firmware whose reads need no login, and which has no telemetry; default false. */
  readonly older?: boolean;
  /** Seconds until a token expires; default one hour. */
  readonly tokenSeconds?: number;
}

export interface IceriverSpec extends CommonSpec {
  readonly kind: "iceriver";
  /** Of its page; default "admin". */
  readonly username?: string;
  /** Default "12345678", the factory setting. */
  readonly password?: string;
  /** Firmware that does not report its MAC address; default false. */
  readonly hidesMac?: boolean;
  /** Seconds until a session expires; default one hour. */
  readonly sessionSeconds?: number;
}

/** A mining program on a computer with graphics cards, or with only a processor. */
export interface ProgramSpec extends CommonSpec, ProgramOptions {
  readonly kind: ProgramKind;
}

export type RigSpec =
  | AntminerSpec
  | WhatsminerSpec
  | AvalonSpec
  | CgminerSpec
  | AxeosSpec
  | XmrigSpec
  | BraiinsSpec
  | ElphapexSpec
  | HammerSpec
  | HiveonSpec
  | LuxosSpec
  | MaraSpec
  | MskminerSpec
  | VnishSpec
  | EpicSpec
  | SealminerSpec
  | GoldshellSpec
  | AuradineSpec
  | IceriverSpec
  | ProtoSpec
  | ApolloSpec
  | MujinaSpec
  | InnosiliconSpec
  | VolcminerSpec
  | ProgramSpec;

export type RigKind = RigSpec["kind"];

/** A rig of any kind. In two cases, since the compiler compares no more than 25 kinds at once. */
export const plainRig = (kind: RigKind, common: CommonSpec): RigSpec =>
  isProgram(kind) ? { kind, ...common } : { kind, ...common };

/** The name of a rig, by default made from its kind and index. */
export const rigName = ({ name, kind }: RigSpec, index: number): string => name ?? `${kind}-${index + 1}`;

/** The standard ports of each kind; XMRig and some other programs have none, so theirs are common choices. */
export const standardPorts: Readonly<Record<RigKind, readonly [number, ...number[]]>> = {
  antminer: [80, 4028],
  cgminer: [4028],
  luxos: [4028, 80],
  vnish: [80, 4028],
  volcminer: [80, 4028],
  axeos: [80],
  epic: [4028, 80],
  auradine: [4028, 8080, 80],
  iceriver: [80],
  goldshell: [80, 4028],
  sealminer: [4028, 80],
  proto: [80],
  apollo: [80],
  mujina: [7785],
  xmrig: [8080],
  whatsminer: [4028, 4433, 80],
  avalon: [4028, 80],
  braiins: [80, 4028],
  elphapex: [80],
  hammer: [80, 4028],
  hiveon: [80, 4028],
  mara: [80, 4028],
  mskminer: [80, 4028],
  innosilicon: [80, 4028],
  trex: [4067],
  zenemy: [4068],
  gminer: [10_555],
  nbminer: [22_333],
  rigel: [5000],
  bzminer: [4014],
  srbminer: [21_550],
  lolminer: [8020],
  teamblack: [4068],
  wildrig: [4000],
  onezerominer: [3001],
  nanominer: [9090],
  miniz: [20_000],
  "xmrig-proxy": [8081],
  ccminer: [4068],
  claymore: [3333],
  ethminer: [3333],
};

const isKind = (word: string): word is RigKind => Object.hasOwn(standardPorts, word);
export const rigKinds: readonly RigKind[] = Object.keys(standardPorts).filter(isKind);

const dialectHardware = {
  cgminer: "boards",
  bfgminer: "boards",
  bmminer: "antminer",
  innosilicon: "a9",
  sgminer: "amdCards",
  teamredminer: "amdCards",
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
  if (spec.kind === "axeos" || spec.kind === "mujina") return "bitaxe";
  if (spec.kind === "epic") return "s19xp";
  if (spec.kind === "sealminer") return "sealA2";
  if (spec.kind === "proto") return "protoRig";
  if (spec.kind === "apollo") return "apollo2";
  if (spec.kind === "goldshell") return "goldshellLt6";
  if (spec.kind === "auradine") return "at1500";
  if (spec.kind === "iceriver") return "iceriverKs5l";
  if (spec.kind === "elphapex") return "dg1plus";
  if (spec.kind === "hammer") return "hammerD10";
  if (spec.kind === "luxos") return "s19kpro";
  if (spec.kind === "vnish" || spec.kind === "hiveon" || spec.kind === "mskminer") return "antminer";
  if (spec.kind === "mara") return "antminer";
  if (spec.kind === "innosilicon") return "a9";
  if (spec.kind === "volcminer") return "volcminerD1";
  if (spec.kind === "whatsminer") return whatsminerHardware[spec.generation ?? "v2"];
  if (spec.kind === "avalon") return avalonHardware[spec.generation ?? "q"];
  if (spec.kind === "braiins") return spec.generation === "bosminer" ? "s9" : "antminer";
  if (spec.kind === "cgminer") return dialectHardware[spec.dialect ?? "cgminer"];
  return spec.kind === "xmrig" ? "processor" : programs[spec.kind].hardware;
}

/** Invented hosts, to which no rig connects. */
const defaultPools = (kind: RigKind, name: string): PoolSpec[] => {
  const scheme = kind === "xmrig" || kind === "xmrig-proxy" ? "" : "stratum+tcp://";
  const pool = { user: `acct.${name}`, password: "x" };
  return [
    { ...pool, url: `${scheme}pool.example.com:3333` },
    { ...pool, url: `${scheme}backup.example.net:3333` },
  ];
};

const shareSeconds = 8;

/** A power of two, as pools use, that gives a share about every eight seconds. */
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
