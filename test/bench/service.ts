import { pino } from "pino";
import { z } from "zod";
import { Config } from "../../src/config/schema.ts";
import type { ServiceEvent } from "../../src/contract/events.ts";
import type { MiningService } from "../../src/contract/service.ts";
import { type HttpServer, startHttpServer } from "../../src/http/index.ts";
import { type Bridge, MqttSettings, startMqtt } from "../../src/mqtt/index.ts";
import { startService } from "../../src/service/index.ts";
import { openPostgresStore, openStore, type Sample, type Store } from "../../src/store/index.ts";
import { answering } from "./child.ts";
import { latenessOf } from "./lateness.ts";
import { quantile } from "./statistics.ts";

/** The service as a process of its own: what `rigbridge serve` starts, with an eye on the samples that it stores. */

export const ServiceSettings = z.object({
  miners: z.array(z.object({ address: z.string(), token: z.string().nullable() })),
  /** s */
  interval: z.number(),
  key: z.string().nullable(),
  /** The store; null = in memory. */
  file: z.string().nullable(),
  /** The URL of a PostgreSQL database instead; null = none. */
  database: z.string().nullable(),
  /** The broker that a bridge goes to; null = none. */
  mqtt: z.string().nullable(),
  /** As in the configuration. */
  rules: z.array(z.unknown()),
  /** poll.workers; null = as installed. */
  workers: z.union([z.literal("auto"), z.int()]).nullable(),
});
export type ServiceSettings = z.infer<typeof ServiceSettings>;

const Lateness = z.object({
  /** Epoch ms at which each begins. */
  windows: z.array(z.number()),
  /** ms */
  length: z.number(),
  /** ms */
  interval: z.number(),
  silentOfTen: z.int(),
});

interface Running {
  readonly store: Store;
  readonly service: MiningService;
  readonly http: HttpServer;
  readonly bridge: Bridge | null;
}

let running: Running | null = null;
/** Good reads of each miner, by its place in the configuration. */
let reads = new Uint32Array();
/** While somebody asked for them: place and epoch ms of each good read. */
let recorded: { place: number; time: number }[] | null = null;
const firstId = 1_000_000_001;
/** Samples that are stored, and those of which it is not known yet. */
let written = { rows: 0, waiting: 0, mostWaiting: 0 };

answering({
  start: async (input) => {
    const { miners, interval, key, file, database, mqtt, rules, workers } = ServiceSettings.parse(input);
    reads = new Uint32Array(miners.length);
    const store = await (database === null
      ? openStore({ file: file ?? ":memory:", now: Date.now })
      : openPostgresStore({ url: database, now: Date.now, site: "bench", address: null }));
    const append = store.samples.append.bind(store.samples);
    store.samples.append = async (rows) => {
      count(rows);
      written.waiting += rows.length;
      written.mostWaiting = Math.max(written.mostWaiting, written.waiting);
      await append(rows);
      written.waiting -= rows.length;
      written.rows += rows.length;
    };
    const config = Config.parse({
      http: { host: "127.0.0.1", port: 0, mcp: true, ...(key === null ? {} : { key }) },
      poll: { interval, ...(workers === null ? {} : { workers }) },
      rules,
      miners: miners.map(({ address, token }) => (token === null ? { address } : { address, token })),
    });
    const log = pino({ level: "silent" });
    const service = await startService({ config, store, log });
    const http = await startHttpServer({ service, settings: config.http, log, version: "0" });
    const bridge = mqtt === null ? null : await bridgeTo(mqtt, service);
    running = { store, service, http, bridge };
    return http.url;
  },
  stop: async () => {
    await running?.bridge?.close();
    await running?.http.close();
    await running?.service.close();
    await running?.store.close();
    running = null;
  },
  /** How many miners have been read at least so often. */
  readAtLeast: (input) => {
    const times = z.int().parse(input);
    return reads.reduce((sum, count) => sum + (count >= times ? 1 : 0), 0);
  },
  /** How many miners are shown as running. */
  shown: async () => (await running?.service.getSummary({}, { actor: "bench" }))?.runningCount,
  /** Those that were not read yet. */
  readRest: async () => {
    for (const [place, times] of reads.entries())
      if (times === 0) await running?.service.pollMiner({ id: firstId + place }, { actor: "bench" });
  },
  /** So many miners once more, evenly spread. */
  readSome: async (input) => {
    const step = Math.max(1, Math.floor(reads.length / z.int().parse(input)));
    for (const place of reads.keys())
      if (place % step === 0) await running?.service.pollMiner({ id: firstId + place }, { actor: "bench" });
  },
  /** Every miner once more. */
  readAgain: async () => {
    for (const place of reads.keys()) await running?.service.pollMiner({ id: firstId + place }, { actor: "bench" });
  },
  /** Puts a lower pool first on so many miners, evenly spread; resolves when all of them report it. */
  steer: async (input) => {
    const step = Math.max(1, Math.floor(reads.length / z.int().parse(input)));
    const ids = Array.from(reads.keys()).filter((place) => place % step === 0);
    await Promise.all(ids.map((place) => prioritizeLast(firstId + place)));
    return ids.length;
  },
  record: () => {
    recorded = [];
    written = { ...written, rows: 0, mostWaiting: written.waiting };
  },
  written: () => written,
  /** Of the polls that were due in each window: ms from the due time to the state being there. */
  lateness: (input) => {
    const { windows, length, interval, silentOfTen } = Lateness.parse(input);
    const places = Array.from(reads.keys()).filter((place) => place % 10 >= silentOfTen);
    const clock = Date.now() - performance.now();
    const idOf = (place: number): number => firstId + place;
    return windows.map((from) => {
      const window = { places, idOf, interval, clock, from, to: from + length };
      const late = latenessOf(recorded ?? [], window);
      const met = late.filter((ms) => ms < interval).length;
      // What never came is as late as was watched.
      const watched = Date.now() - from;
      const at = (share: number): number => Math.min(watched, quantile(late, share));
      return { due: late.length, met, p50: at(0.5), p99: at(0.99), most: at(1) };
    });
  },
  resident: () => process.memoryUsage.rss(),
  memory: () => {
    for (let turn = 0; turn < 3; turn += 1) globalThis.gc?.();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  },
});

async function prioritizeLast(id: number): Promise<void> {
  const caller = { actor: "bench" };
  const miner = await running?.service.getMiner({ id }, caller);
  const poolId = miner?.poolList.findLast(({ canPrioritize }) => canPrioritize)?.id;
  if (poolId === undefined) throw new Error(`Miner ${id} has no pool to put first`);
  await running?.service.minerPoolAction({ id, poolId, action: "prioritize" }, caller);
}

function count(rows: readonly Sample[]): void {
  for (const { minerId, time } of rows) {
    const place = minerId - firstId;
    reads[place] = (reads[place] ?? 0) + 1;
    recorded?.push({ place, time });
  }
}

/** A bridge as `serve` starts it, to which each change is told with the time: epoch ms, as the count of rejected shares. */
function bridgeTo(url: string, service: MiningService): Promise<Bridge> {
  const watchEvents: MiningService["watchEvents"] = (input, caller, signal) =>
    timed(service.watchEvents(input, caller, signal));
  return startMqtt({
    service: { ...service, watchEvents },
    settings: MqttSettings.parse({ url }),
    log: pino({ level: "silent" }),
    version: "0",
    folder: null,
  });
}

async function* timed(events: AsyncIterable<ServiceEvent>): AsyncIterable<ServiceEvent> {
  for await (const event of events) {
    if (event.type === "miner") {
      const { readings } = event.data;
      const shares = { ...readings.shares, rejected: Date.now() };
      yield { ...event, data: { ...event.data, readings: { ...readings, shares } } };
    } else yield event;
  }
}
