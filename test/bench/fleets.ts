import { z } from "zod";
import { Child } from "./child.ts";
import { bareCost } from "./polling.ts";
import { Service, startFarm, wait } from "./rigs.ts";
import type { ServiceSettings } from "./service.ts";
import { type Measured, measured, median } from "./statistics.ts";

const interval = 10;

export async function fleet(quick: boolean): Promise<Measured[]> {
  const rigs = quick ? 200 : 5000;
  const farm = await startFarm(rigs);
  const service = new Service();
  await service.start(farm.rigs, { interval });
  await service.readBy(rigs, quick ? 1 : 2);
  const bare = new Child("bare-poll.ts");
  await bare.tell("rigs", farm.rigs);
  const shares: number[] = [];
  const multiples: number[] = [];
  for (let run = 0; run < (quick ? 1 : 3); run += 1) {
    const { cpu, seconds } = await service.watched(5);
    const share = cpu / 1e6 / seconds;
    const floor = ((await bareCost(bare, rigs / interval, 5)) * rigs) / interval / 1e6;
    shares.push(share);
    multiples.push(share / floor);
  }
  await Promise.all([service.end(), farm.end(), bare.end()]);
  const perRead = (Math.max(...shares) * 1e6 * interval) / rigs;
  return [
    measured("fleet.5000at10.cpu", shares, `${Math.round(perRead)} µs a read at most`),
    measured("fleet.5000at10.multiple", multiples, `the bare loop ${rigs / interval} times a second`),
  ];
}

const Lateness = z.object({ due: z.int(), met: z.int(), p50: z.number(), p99: z.number(), most: z.number() });
const Written = z.object({ rows: z.int(), mostWaiting: z.int() });

export interface Watching {
  readonly rigs: number;
  /** s between two reads of a rig. */
  readonly interval: number;
  readonly workers: ServiceSettings["workers"];
  readonly silentOfTen: number;
  /** s of each window. */
  readonly seconds: number;
  readonly windows: number;
  /** s that are waited at most until every rig that answers has been read; absent: 90. */
  readonly firstReadsWithin?: number;
  /** How many take a command once all have been read. */
  readonly steered?: number;
  /** Where samples are stored; absent: in memory. */
  readonly store?: Partial<Pick<ServiceSettings, "file" | "database">>;
  /** s of CPU that the database's server has taken so far. */
  readonly databaseCpu?: () => number;
}

/**
 * What became of the polls that were due, window by window, once every rig that answers has been read; at the latest
 * after some time, since a service that has more to do than it can may never get there.
 */
export async function lateness(watching: Watching) {
  const {
    rigs,
    interval,
    workers,
    silentOfTen,
    seconds,
    windows,
    steered = 0,
    firstReadsWithin = 90,
    store,
    databaseCpu = () => 0,
  } = watching;
  const farm = await startFarm(rigs, { silentOfTen });
  const service = new Service();
  await service.start(farm.rigs, { interval, workers, ...store });
  const live = (rigs * (10 - silentOfTen)) / 10;
  const began = performance.now();
  const read = await service.shownWithin(1000 * firstReadsWithin, live);
  const secondsSince = (): number => (performance.now() - began) / 1000;
  const firstReads = secondsSince();
  const commanded = steered === 0 ? 0 : await service.child.ask(z.number(), "steer", steered);
  const steeredBy = secondsSince();
  await service.child.tell("record");
  const from = Date.now();
  const cpuOfOthers = async () => ({ simulator: (await farm.cpu()) / 1e6, database: databaseCpu() });
  const before = await cpuOfOthers();
  const watched = await service.watched(seconds * windows);
  const after = await cpuOfOthers();
  const written = await service.child.ask(Written, "written");
  // The last ones may be under way, and their samples are written up to 5 s later.
  await wait(7_000);
  const late = await service.child.ask(z.array(Lateness), "lateness", {
    windows: Array.from({ length: windows }, (_, index) => from + 1000 * seconds * index),
    length: 1000 * seconds,
    interval: 1000 * interval,
    silentOfTen,
  });
  const resident = await service.child.ask(z.number(), "resident");
  await Promise.all([service.end(), farm.end()]);
  const sum = (of: "due" | "met"): number => late.reduce((total, window) => total + window[of], 0);
  const share = watched.cpu / 1e6 / watched.seconds;
  const note = `${sum("met")} of ${sum("due")} due polls done in time, ${Math.round(100 * share)} % of a core`;
  const missing = read < live ? `, ${live - read} rigs never read before` : "";
  return {
    late,
    firstReads,
    commanded,
    steeredBy,
    resident,
    note: note + missing,
    others: {
      simulator: (after.simulator - before.simulator) / watched.seconds,
      database: (after.database - before.database) / watched.seconds,
    },
    rows: written.rows / watched.seconds,
    mostWaiting: written.mostWaiting,
  };
}

export const middle = (late: readonly { p50: number; p99: number }[]): string =>
  `p50 ${Math.round(median(late.map(({ p50 }) => p50)))} ms, p99 ${Math.round(median(late.map(({ p99 }) => p99)))} ms`;

export async function large(quick: boolean): Promise<Measured[]> {
  const few = { rigs: 200, workers: 2, seconds: 5, windows: 1, interval: 10 } as const;
  const at10 = { rigs: 40_000, workers: "auto", seconds: 7, windows: 3, interval: 10 } as const;
  const first = await lateness({ ...(quick ? few : at10), silentOfTen: 0, steered: 400 });
  const { late, firstReads, note } = first;
  const seconds = late.map(({ p99 }) => p99 / 1000);
  const at30 = { rigs: 100_000, workers: "auto", seconds: 20, windows: 3, interval: 30 } as const;
  const more = await lateness({ ...(quick ? few : at30), silentOfTen: 0 });
  const secondsOfMore = more.late.map(({ p99 }) => p99 / 1000);
  return [
    measured("fleet.40000at10.firstReads", [firstReads], "90 s at most are waited"),
    measured(
      "fleet.40000at10.steered",
      [first.steeredBy],
      `${first.commanded} of them have confirmed a command by then`,
    ),
    measured("fleet.40000at10.lateness.p99", seconds, `${note}, ${middle(late)}`),
    measured("fleet.100000at30.lateness.p99", secondsOfMore, `${more.note}, ${middle(more.late)}`),
    measured(
      "fleet.100000at30.memory",
      [more.resident / 1e9],
      `the first read of each within ${Math.round(more.firstReads)} s`,
    ),
  ];
}

export async function dead(quick: boolean): Promise<Measured[]> {
  const watching = quick ? { rigs: 200, seconds: 5, windows: 1 } : { rigs: 5000, seconds: 10, windows: 3 };
  const { late, note } = await lateness({ ...watching, interval, workers: 0, silentOfTen: 3 });
  const shares = late.map(({ due, met }) => met / due);
  return [measured("fleet.deadShare30.duePolls", shares, `${note}, ${middle(late)}`)];
}
