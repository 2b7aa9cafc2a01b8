import { asicModel } from "../../../catalogue/asic-models.ts";
import type { Identity } from "../../../contract/readings.ts";
import { isRecord } from "../../../contract/record.ts";
import { normalMac } from "../../identity.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { type Status, statusOf } from "../shared/cgminer-replies.ts";

/** Makers by the names of their programs, tested in this order, plain ones last. */
const makes: readonly (readonly [RegExp, string])[] = [
  [/BOSMINER|BOSER/, "Braiins"],
  [/BTMINER|BITMICRO/, "WhatsMiner"],
  [/LUXMINER/, "LuxOS"],
  [/HIVEON/, "Hiveon"],
  [/KAONSU|MARAFW/, "MARA"],
  [/VNISH/, "VNish"],
  [/VOLCMINER/, "VolcMiner"],
  [/HAMMER/, "Hammer"],
  // It calls itself BMMiner, like Bitmain's own.
  [/RWGLR/, "MSKMiner"],
  [/ANTMINER|BMMINER/, "Antminer"],
  [/BDMINER/, "Sealminer"],
  [/INTCHAINS_QOMO|KDAMINER/, "Goldshell"],
  [/INNOMINER/, "Innosilicon"],
  [/AVALON/, "Avalon"],
  [/GCMINER|FLUXOS/, "Auradine"],
];

/** Mining programs for computers, which are not firmware. */
const miningPrograms: readonly (readonly [RegExp, string])[] = [
  [/TEAMREDMINER/, "TeamRedMiner"],
  [/BFGMINER/, "bfgminer"],
  [/SGMINER/, "sgminer"],
  [/CGMINER/, "cgminer"],
];

/** Fields that name a device: then firmware answers, which may still call itself cgminer. */
const namesDevice = ["Type", "PROD", "MODEL", "Model", "CompileTime"] as const;

/** Ids as in GET /api/miningsoftware, which does not list firmware of ASIC makers. */
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
 * What answers, by its `version`, or by its first `stats` where newer firmware no longer answers `version`.
 * undefined when the answer is not this RPC.
 */
export function kindOf(version: unknown, stats: unknown): Kind | undefined {
  if (statusOf(version) === null) return undefined;
  const reply = new TolerantReader(firstOf(version, "VERSION"), new Notes(), "version");
  const first = new TolerantReader(firstOf(stats, "STATS"), new Notes(), "stats");
  const text = `${JSON.stringify(version)} ${first.text("Type") ?? ""}`.toUpperCase();
  const model = reply.text("Type") ?? first.text("Type") ?? reply.text("PROD") ?? innosilicon(statusOf(version));
  const isFirmware = model !== null || namesDevice.some((key) => reply.has(key));
  const make = [...makes, ...(isFirmware ? [] : miningPrograms)].find(([sign]) => sign.test(text))?.[1] ?? null;
  return {
    software: software[make ?? ""] ?? null,
    algorithm: asicModel(make, model)?.algorithm ?? null,
    identity: {
      make,
      model,
      firmware: makesOfBuilds.has(make ?? "") ? (build(reply) ?? build(first)) : (firmware(reply) ?? firmware(first)),
      mac: normalMac(reply.text("MAC")),
      hostname: null,
      serial: reply.text("DNA"),
    },
  };
}

/** "innominer a9-1.1.0" is an A9. */
const innosilicon = (status: Status | null): string | null =>
  /^innominer ([a-z]\d{1,2})\b/i.exec(status?.program ?? "")?.[1]?.toUpperCase() ?? null;

function firstOf(value: unknown, section: string): unknown {
  const listed = isRecord(value) ? value[section] : undefined;
  const first: unknown = Array.isArray(listed) ? listed[0] : undefined;
  return isRecord(first) ? first : undefined;
}

const programs = ["Miner", "CGMiner", "SGMiner", "LUXminer", "BOSer", "BOSminer", "BDMiner", "GCMiner", "BMMiner"];

/** "cgminer 4.11.1"; bfgminer's `Miner` includes the name. */
function firmware(reply: TolerantReader): string | null {
  const program = programs.find((key) => reply.has(key));
  if (program === undefined) return null;
  const version = reply.text(program);
  return version === null || program === "Miner" ? version : `${program.toLowerCase()} ${version}`;
}

/** Makers whose firmware is identified by its build time. */
const makesOfBuilds: ReadonlySet<string> = new Set(["Antminer", "Hammer", "Hiveon", "MSKMiner"]);

/** Bitmain's `Miner` is the mining program ("uart_trans.1.3"); its firmware is identified by its build time. */
const build = (reply: TolerantReader): string | null =>
  reply.text("CompileTime")?.replace(/\s+/g, " ") ?? firmware(reply);
