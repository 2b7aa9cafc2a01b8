import { RigbridgeError } from "../../../contract/problems.ts";
import { type Board, type RigReadings, unknownBoard, unknownReadings } from "../../../contract/readings.ts";
import { isRecord } from "../../../contract/record.ts";
import { unknownIdentity } from "../../identity.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import type { RpcTransport } from "../../transports/rpc.ts";
import { firstOf, isRefusal, poolsOf, ratesOf, statusOf } from "../shared/cgminer-replies.ts";
import { celsius, highest, total } from "../shared/figures.ts";
import { type Snapshot, slotOf, turning } from "./snapshot.ts";

/** The reports of BOSminer and BOSer over cgminer's RPC, without a login. Source: Braiins' "BOSminer API". */
const reports = ["summary", "pools", "devs", "devdetails", "fans", "temps", "tunerstatus"] as const;

type Name = (typeof reports)[number];

/** Raw reports; undefined where the rig gave none. */
export type Reports = Readonly<Partial<Record<Name, unknown>>>;

/** All in one request, or one by one where the rig does not join commands. */
export async function askReports(rpc: RpcTransport, signal: AbortSignal, notes: Notes): Promise<Reports> {
  const { value, notes: repairs } = await rpc.send(reports.join("+"), undefined, signal);
  notes.addAll(repairs);
  if (isRecord(value) && "summary" in value) {
    return Object.fromEntries(reports.map((name) => [name, firstOf(value[name])]));
  }
  const apart: Partial<Record<Name, unknown>> = {};
  for (const name of reports) apart[name] = (await rpc.send(name, undefined, signal)).value;
  return apart;
}

/** "BOSminer+ 0.2.0-ea64aec8e", "boser-openwrt 0.1.0-11012d53"; null when it is not Braiins'. */
export function softwareOf(version: unknown): string | null {
  const programs = new TolerantReader(isRecord(version) ? firstOf(version.VERSION) : undefined, new Notes(), "version");
  const key = ["BOSer", "BOSminer+", "BOSminer"].find((name) => programs.has(name));
  if (key !== undefined) {
    const text = programs.text(key) ?? "";
    return /^bos/i.test(text) ? text : `${key} ${text}`.trimEnd();
  }
  return /BOSMINER|BOSER/i.test(JSON.stringify(version) ?? "") ? "BOSminer" : null;
}

export function rpcSnapshot(given: Reports, notes: Notes): Snapshot {
  const list = (name: Name): TolerantReader[] => {
    const status = statusOf(given[name]);
    return status !== null && isRefusal(status)
      ? []
      : new TolerantReader(given[name], notes, "").list(name.toUpperCase());
  };
  if (list("summary").length === 0) notes.add("its miner returns no summary");
  const summary = list("summary")[0] ?? new TolerantReader(undefined, notes, "SUMMARY[0]");
  const tuner = list("tunerstatus")[0] ?? new TolerantReader(undefined, notes, "TUNERSTATUS[0]");
  const details = list("devdetails");
  const boards = boardsOf(list("devs"), details, list("temps"));
  const rates = ratesOf(summary);
  const power = tuner.number("ApproximateMinerPowerConsumption", { absent: 0 });
  const paused = isPaused(given.devdetails, tuner);
  return {
    identity: { ...unknownIdentity, make: "Braiins", model: details[0]?.text("Model") ?? null },
    readings: {
      ...unknownReadings(),
      hashrate: rates.now,
      hashrateAverage: rates.average,
      hashrateExpected: total(list("devs").map((dev) => dev.number("Nominal MHS", { times: 1e6, absent: 0 }))),
      algorithm: "sha256",
      power,
      powerLimit: tuner.number("PowerLimit", { absent: 0 }),
      powerSource: power === null ? null : "reported",
      temperature: highest(boards.map(({ temperature }) => temperature)),
      boards,
      fans: turning(list("fans").map((fan) => ({ rpm: fan.number("RPM"), percent: fan.number("Speed") }))),
      uptime: summary.number("Elapsed"),
      mining: paused ? false : rates.now === null ? null : rates.now > 0,
      bestShare: summary.number("Best Share", { absent: 0 }),
      foundBlocks: summary.integer("Found Blocks"),
      shares: {
        accepted: summary.integer("Accepted"),
        rejected: summary.integer("Rejected"),
        hardwareErrors: summary.integer("Hardware Errors"),
      },
      errors: tunerErrors(tuner),
    },
    pools: poolsOf(list("pools")),
    wanted: !paused,
    starting: false,
    off: new Set(),
    logInterval: rates.seconds,
  };
}

/** Boards by the number of their connector: 6, 7 and 8 on an S9. */
function boardsOf(
  devs: readonly TolerantReader[],
  details: readonly TolerantReader[],
  temps: readonly TolerantReader[],
): Board[] {
  const bySlot = (list: readonly TolerantReader[], slot: number): TolerantReader | undefined =>
    list.find((each) => each.integer("ID") === slot);
  const slots = [...devs, ...details].flatMap((each) => slotOf(each, "ID") ?? []);
  return [...new Set(slots)].map((slot) => {
    const dev = bySlot(devs, slot);
    const detail = bySlot(details, slot);
    const temp = bySlot(temps, slot);
    return {
      ...unknownBoard(slot),
      hashrate: dev === undefined ? null : ratesOf(dev).now,
      temperature: temp?.number("Board", celsius) ?? dev?.number("Temperature", celsius) ?? null,
      chipTemperature: temp?.number("Chip", celsius) ?? null,
      chips: detail?.integer("Chips", { absent: 0 }) ?? null,
      frequency: frequencyOf(detail),
      voltage: detail?.number("Voltage", { absent: 0, max: 100 }) ?? null,
    };
  });
}

/** BOSminer reports Hz and BOSer MHz; no chip runs at 100 GHz or at 100 kHz. */
function frequencyOf(detail: TolerantReader | undefined): number | null {
  const frequency = detail?.number("Frequency", { absent: 0 }) ?? null;
  return frequency === null || frequency >= 100_000 ? frequency : frequency * 1e6;
}

/** A paused miner has no details of its boards, or its tuner reports it. */
function isPaused(details: unknown, tuner: TolerantReader): boolean {
  const status = statusOf(details);
  if (status !== null && isRefusal(status) && /unavailable/i.test(status.words)) return true;
  return tuner.list("TunerChainStatus").some((chain) => /^paused/i.test(chain.text("Status") ?? ""));
}

/** The tuner's states are sentences; only those of stopped boards are errors. */
const tunerErrors = (tuner: TolerantReader): RigReadings["errors"] =>
  tuner.list("TunerChainStatus").flatMap((chain) => {
    const status = chain.text("Status");
    const slot = chain.integer("HashchainIndex");
    return status !== null && /refused to start|error|fail/i.test(status)
      ? [{ code: "tuner", text: `board ${slot ?? "?"}: ${status}` }]
      : [];
  });

/** The rig's own words. Throws `rig.refused` with them. */
export async function command(
  rpc: RpcTransport,
  name: string,
  parameter: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  const { value } = await rpc.send(name, parameter, signal);
  const status = statusOf(value);
  if (status === null) throw new RigbridgeError("rig.garbled", `${rpc.at} answered "${name}" without a STATUS`);
  // Some versions repeat a pool's whole login in a refusal.
  if (isRefusal(status) && name === "addpool")
    throw new RigbridgeError("rig.refused", `${rpc.at} refused "addpool" (code ${status.code ?? "?"})`);
  if (isRefusal(status)) throw new RigbridgeError("rig.refused", `${rpc.at} refused "${name}": ${status.words}`);
  return status.words;
}
