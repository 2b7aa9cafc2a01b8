import { asicModel } from "../../../catalogue/asic-models.ts";
import { coins } from "../../../catalogue/coins.ts";
import { type Board, type Identity, type RigReadings, unknownReadings } from "../../../contract/readings.ts";
import type { DeviceReading } from "../../driver.ts";
import { normalMac } from "../../identity.ts";
import type { TolerantReader } from "../../tolerant-reader.ts";
import { boardDevice } from "../shared/board-device.ts";
import { devicesOf as devsOf, ratesOf } from "../shared/cgminer-replies.ts";
import { celsius, highest, lowest } from "../shared/figures.ts";
import { planInUse } from "./plans.ts";

/** The replies of one read, of the RPC and of the HTTP API; without its login the settings are empty. */
export interface Snapshot {
  readonly summary: TolerantReader;
  readonly devs: readonly TolerantReader[];
  readonly pools: readonly TolerantReader[];
  readonly details: readonly TolerantReader[];
  readonly status: TolerantReader;
  readonly setting: TolerantReader;
  readonly algorithms: TolerantReader;
}

export const identityOf = ({ status, setting }: Snapshot): Identity => ({
  make: "Goldshell",
  model: status.text("model")?.replace(/^goldshell[\s_-]*/i, "") || null,
  firmware: status.text("firmware"),
  // Its name is its MAC address.
  mac: normalMac(setting.text("name")),
  hostname: null,
  serial: null,
});

/** By the coin of the selected algorithm ("blake2b(SC)"), otherwise by the model. */
function algorithmOf(snapshot: Snapshot): string | null {
  const { algorithms } = snapshot;
  const selected = algorithms.integer("algo_select");
  const name = algorithms
    .list("algos", 16)
    .find((each) => each.integer("id") === selected)
    ?.text("name");
  const coin = /\((\w+)\)/.exec(name ?? "")?.[1]?.toUpperCase();
  const byCoin = coins.find(({ shortName }) => shortName === coin)?.algorithm;
  return byCoin ?? asicModel("Goldshell", identityOf(snapshot).model)?.algorithm ?? null;
}

export function readingsOf(snapshot: Snapshot): RigReadings {
  const { summary, devs, setting } = snapshot;
  // Its MHS are MH/s, whatever the algorithm.
  const { now, average } = ratesOf(summary);
  const boards = boardsOf(snapshot);
  const plan = planInUse(setting);
  const isManual = setting.boolean("manual") === true;
  return {
    ...unknownReadings(),
    hashrate: now,
    hashrateAverage: average,
    algorithm: algorithmOf(snapshot),
    temperature: highest(boards.map((board) => board.temperature)),
    boards,
    fans: fansOf(devs),
    uptime: summary.number("Elapsed"),
    mining: plan?.isIdle === true ? false : now === null ? null : now > 0,
    mode: isManual ? "manual" : plan === null ? null : String(plan.level),
    bestShare: summary.number("Best Share", { absent: 0 }),
    foundBlocks: summary.integer("Found Blocks"),
    shares: {
      accepted: summary.integer("Accepted"),
      rejected: summary.integer("Rejected"),
      hardwareErrors: summary.integer("Hardware Errors"),
    },
  };
}

function boardsOf({ devs, details }: Snapshot): Board[] {
  return devs.map((dev, position): Board => {
    const slot = dev.integer("ID", { max: 99 }) ?? position;
    return {
      slot,
      hashrate: ratesOf(dev).now,
      temperature: dev.number("tstemp-2", celsius),
      chipTemperature: highest([dev.number("tstemp-0", celsius), dev.number("tstemp-1", celsius)]),
      chips: details.find((each) => each.integer("ID") === slot)?.integer("chips-nr") ?? null,
      chipsExpected: null,
      // Its clock and voltage are in units that no source states.
      frequency: null,
      voltage: null,
      serial: null,
    };
  });
}

/** Every board repeats the fans of the whole rig; where their figures differ, the slowest counts. */
function fansOf(devs: readonly TolerantReader[]): RigReadings["fans"] {
  return Array.from({ length: 8 }, (_, fan) => lowest(devs.map((dev) => dev.number(`fan${fan}`)))).flatMap((rpm) =>
    rpm === null ? [] : [{ rpm, percent: null }],
  );
}

export const devicesOf = ({ devs }: Snapshot, boards: readonly Board[]): DeviceReading[] =>
  devsOf(devs, null).flatMap(({ reading: { status, accepted, rejected, hardwareErrors } }, position) => {
    const board = boards[position];
    return board === undefined ? [] : [boardDevice(board, { status, accepted, rejected, hardwareErrors })];
  });
