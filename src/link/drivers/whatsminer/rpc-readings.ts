import { type Identity, type RigReadings, unknownReadings } from "../../../contract/readings.ts";
import { isRecord } from "../../../contract/record.ts";
import type { PoolReading } from "../../driver.ts";
import { normalMac } from "../../identity.ts";
import { haltBy, stopped } from "../../reason.ts";
import { type Notes, TolerantReader } from "../../tolerant-reader.ts";
import { devicesOf, type NumberedDevice, poolsOf, ratesOf } from "../shared/cgminer-replies.ts";
import { celsius, highest } from "../shared/figures.ts";
import { algorithmOf, fansOf, locateOf, modeOf, psuOf, realLimit, type Snapshot } from "./dialect.ts";
import { countedErrors, errorsOf } from "./errors.ts";

/** Raw answers to the reports of API v1 and v2; undefined where there was none. */
export interface RpcAnswers {
  readonly summary: unknown;
  readonly pools: unknown;
  readonly devs: unknown;
  readonly status: unknown;
  readonly get_error_code: unknown;
  readonly get_miner_info: unknown;
  readonly get_version: unknown;
  readonly devdetails: unknown;
  readonly get_psu: unknown;
}

export function rpcSnapshot(answers: RpcAnswers, notes: Notes): Snapshot {
  const summary = first(answers, "summary", "SUMMARY", notes);
  const status = payload(answers, "status", notes);
  const info = payload(answers, "get_miner_info", notes);
  const version = payload(answers, "get_version", notes);
  const numbered = devicesOf(new TolerantReader(answers.devs, notes, "").list("DEVS"), null);
  const identity = identityOf({ summary, info, version, details: first(answers, "devdetails", "DEVDETAILS", notes) });
  const off = status.boolean("mineroff");
  const readings = readingsOf(summary, numbered, identity.model, off);
  return {
    identity,
    readings: {
      ...readings,
      psu: psuOf(payload(answers, "get_psu", notes), { model: "name", serial: "serial_no" }),
      locate: locateOf(info, "ledstat"),
      errors: [
        ...countedErrors(summary.integer("Error Code Count"), (index) => summary.integer(`Error Code ${index}`)),
        ...errorsIn(answers.get_error_code),
      ],
    },
    pools: rpcPools(answers.pools, notes),
    devices: numbered.map(({ reading }) => (off === true ? { ...reading, hashrate: 0 } : reading)),
    halt: off === true ? haltBy(status.text("mineroff_reason") ?? stopped.text, "user") : undefined,
    throttle: status.number("power_pct", { absent: 0, max: 100 }),
    throttles: apiOf(version) >= 2,
    settled: readings.mining === true && (summary.boolean("Hash Stable") ?? (readings.uptime ?? 0) > settledAfter),
    logInterval: summary.has("HS RT") ? null : ratesOf(summary).seconds,
  };
}

/** s of uptime, where the device does not report whether it has finished ramping up. */
const settledAfter = 3_600;

/** The pools that are set; unused slots have no address. */
export const rpcPools = (answer: unknown, notes: Notes): PoolReading[] =>
  poolsOf(new TolerantReader(answer, notes, "").list("POOLS")).filter(({ url }) => url !== "");

/** The first record of a report's section. */
function first(answers: RpcAnswers, name: keyof RpcAnswers, section: string, notes: Notes): TolerantReader {
  return new TolerantReader(answers[name], notes, "").list(section)[0] ?? new TolerantReader(undefined, notes, section);
}

/** `Msg` of `get_*` and `status`. */
function payload(answers: RpcAnswers, name: keyof RpcAnswers, notes: Notes): TolerantReader {
  const reply = new TolerantReader(answers[name], notes, name);
  return answers[name] === undefined ? reply : reply.object("Msg");
}

function errorsIn(answer: unknown): RigReadings["errors"] {
  const reply = isRecord(answer) && isRecord(answer.Msg) ? answer.Msg.error_code : undefined;
  return errorsOf(reply);
}

const bare = (text: string | null): string | null => text?.replace(/^whatsminer v|'/g, "").trim() || null;

interface Naming {
  readonly summary: TolerantReader;
  readonly info: TolerantReader;
  readonly version: TolerantReader;
  readonly details: TolerantReader;
}

function identityOf({ summary, info, version, details }: Naming): Identity {
  return {
    make: "WhatsMiner",
    model: details.text("Model")?.replaceAll("_", " ") ?? null,
    firmware: bare(version.text("fw_ver")) ?? bare(summary.text("Firmware Version")),
    mac: normalMac(summary.text("MAC") ?? info.text("mac")),
    hostname: info.text("hostname"),
    serial: info.text("minersn"),
  };
}

/** 1 where it is not reported. */
function apiOf(version: TolerantReader): number {
  return Number(/(\d)\./.exec(version.text("api_ver") ?? "")?.[1] ?? 1);
}

/** With the boards off the last rates are still reported, so they are replaced by 0. */
function readingsOf(
  summary: TolerantReader,
  numbered: readonly NumberedDevice[],
  model: string | null,
  off: boolean | null,
): RigReadings {
  const { now, average } = ratesOf(summary);
  const hashrate = off === true ? 0 : (summary.number("HS RT", { times: 1e6 }) ?? now);
  const power = summary.number("Power");
  const boards = numbered.map((device) => boardOf(device, off === true));
  return {
    ...unknownReadings(),
    hashrate,
    hashrateAverage: average,
    hashrateExpected: summary.number("Factory GHS", { times: 1e9, absent: 0 }),
    algorithm: algorithmOf(model),
    power: power === 0 && (hashrate ?? 0) > 0 ? null : power,
    powerLimit: realLimit(summary.number("Power Limit")),
    powerSource: power === null ? null : "reported",
    temperature: highest(boards.map(({ temperature }) => temperature)) ?? summary.number("Temperature", celsius),
    temperatureIn: summary.number("Env Temp", { min: -60, max: 250 }),
    boards,
    fans: fansOf([summary.number("Fan Speed In"), summary.number("Fan Speed Out")], model),
    uptime: summary.number("Elapsed"),
    mining: off === null ? (hashrate === null ? null : hashrate > 0) : !off,
    mode: modeOf(summary.text("Power Mode")),
    bestShare: summary.number("Best Share"),
    foundBlocks: summary.integer("Found Blocks"),
    shares: {
      accepted: summary.integer("Accepted"),
      rejected: summary.integer("Rejected"),
      hardwareErrors: summary.integer("Hardware Errors"),
    },
  };
}

function boardOf({ reading, number, chipTemperature, chips, serial }: NumberedDevice, off: boolean): Board {
  return {
    slot: number,
    hashrate: off ? 0 : reading.hashrate,
    temperature: reading.temperature,
    chipTemperature,
    chips,
    chipsExpected: null,
    frequency: reading.clock,
    voltage: null,
    serial,
  };
}

type Board = RigReadings["boards"][number];
