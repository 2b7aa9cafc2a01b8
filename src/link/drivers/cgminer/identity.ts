import type { Identity } from "../../../contract/readings.ts";
import { normalMac } from "../../identity.ts";
import { isRecord, Notes, TolerantReader } from "../../tolerant-reader.ts";
import { statusOf } from "../shared/cgminer-replies.ts";

/** Makers' programs behind the same RPC, by what they call themselves; tested in this order, the plain ones last. */
const makes: readonly (readonly [RegExp, string])[] = [
  [/BOSMINER|BOSER/, "Braiins"],
  [/BTMINER|BITMICRO/, "WhatsMiner"],
  [/LUXMINER/, "LuxOS"],
  [/HIVEON/, "Hiveon"],
  [/KAONSU|MARAFW/, "MARA"],
  [/VNISH/, "VNish"],
  [/VOLCMINER/, "VolcMiner"],
  // It calls itself BMMiner, as Bitmain's own does.
  [/RWGLR/, "MSKMiner"],
  [/ANTMINER|BMMINER/, "Antminer"],
  [/BDMINER/, "Sealminer"],
  [/INTCHAINS_QOMO|KDAMINER/, "Goldshell"],
  [/INNOMINER/, "Innosilicon"],
  [/AVALON/, "Avalon"],
  [/GCMINER|FLUXOS/, "Auradine"],
];

/** Programs that people start themselves, on a computer of their own. */
const programsOfPeople: readonly (readonly [RegExp, string])[] = [
  [/TEAMREDMINER/, "TeamRedMiner"],
  [/BFGMINER/, "bfgminer"],
  [/SGMINER/, "sgminer"],
  [/CGMINER/, "cgminer"],
];

/** What names the device: then firmware answers, which speaks like cgminer and may still call itself that. */
const namesDevice = ["Type", "PROD", "MODEL", "Model", "CompileTime"] as const;

/** Makers whose firmware runs on Bitmain's rigs. */
const onBitmain = new Set(["Antminer", "MSKMiner", "Hiveon", "MARA", "VNish"]);

/** Ids as in GET /api/miningsoftware; firmware of ASIC makers is none of it. */
const software: Readonly<Record<string, string>> = {
  cgminer: "CgMiner",
  bfgminer: "BfgMiner",
  sgminer: "SgMinerGm",
  TeamRedMiner: "TeamRedMiner",
};

export interface Kind {
  readonly identity: Identity;
  readonly software: string | null;
  /** Known from the model where the rig has no `coin` command. */
  readonly algorithm: string | null;
}

/**
 * What answers, from its `version`, and from its first `stats` where newer firmware no longer answers `version`.
 * undefined when the answer is not this RPC at all.
 */
export function kindOf(version: unknown, stats: unknown): Kind | undefined {
  if (statusOf(version) === null) return undefined;
  const said = new TolerantReader(firstOf(version, "VERSION"), new Notes(), "version");
  const first = new TolerantReader(firstOf(stats, "STATS"), new Notes(), "stats");
  const text = `${JSON.stringify(version)} ${first.text("Type") ?? ""}`.toUpperCase();
  const model = said.text("Type") ?? first.text("Type") ?? said.text("PROD");
  const isFirmware = model !== null || namesDevice.some((key) => said.has(key));
  const make = [...makes, ...(isFirmware ? [] : programsOfPeople)].find(([sign]) => sign.test(text))?.[1] ?? null;
  return {
    software: software[make ?? ""] ?? null,
    // Firmware by others may leave the name out.
    algorithm: onBitmain.has(make ?? "") ? antminerAlgorithm(`Antminer ${model?.replace(/^Antminer /, "")}`) : null,
    identity: {
      make,
      model,
      firmware: make === "Antminer" ? (build(said) ?? build(first)) : (firmware(said) ?? firmware(first)),
      mac: normalMac(said.text("MAC")),
      hostname: null,
      serial: said.text("DNA"),
    },
  };
}

function firstOf(value: unknown, section: string): unknown {
  const listed = isRecord(value) ? value[section] : undefined;
  const first: unknown = Array.isArray(listed) ? listed[0] : undefined;
  return isRecord(first) ? first : undefined;
}

const programs = ["Miner", "CGMiner", "SGMiner", "LUXminer", "BOSer", "BOSminer", "BDMiner", "GCMiner", "BMMiner"];

/** "cgminer 4.11.1"; bfgminer's `Miner` already names itself. */
function firmware(said: TolerantReader): string | null {
  const program = programs.find((key) => said.has(key));
  if (program === undefined) return null;
  const version = said.text(program);
  return version === null || program === "Miner" ? version : `${program.toLowerCase()} ${version}`;
}

/** Bitmain's `Miner` is the program that mines ("uart_trans.1.3"); its firmware goes by the time when it was built. */
const build = (said: TolerantReader): string | null => said.text("CompileTime")?.replace(/\s+/g, " ") ?? firmware(said);

/** Bitmain names its series after what they hash. */
const series: Readonly<Record<string, string>> = {
  S: "sha256",
  T: "sha256",
  L: "scrypt",
  D: "x11",
  Z: "equihash",
  E: "ethash",
};

export const antminerAlgorithm = (model: string | null): string | null =>
  series[/Antminer ([A-Z])\d/.exec(model ?? "")?.[1] ?? ""] ?? null;
