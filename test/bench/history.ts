import { DatabaseSync } from "node:sqlite";
import { pino } from "pino";
import { z } from "zod";
import { Config } from "../../src/config/schema.ts";
import { startService } from "../../src/service/index.ts";
import { openStore, type Sample } from "../../src/store/index.ts";
import { answering } from "./child.ts";

/** The store's figures, in a process of their own. */

const firstId = 1_000_000_001;
const hour = 3_600_000;
const period = 10_000;

const Filling = z.object({ file: z.string(), miners: z.int(), rows: z.int() });
const Asking = z.object({ file: z.string(), miners: z.int(), asked: z.int() });

answering({
  /** Appends so many rows in the recorder's portions, those of 5 s; rows a second. */
  append: async (input) => {
    const { file, miners, rows } = Filling.parse(input);
    const store = await openStore({ file, now: Date.now });
    const perTurn = miners / 2;
    let took = 0;
    for (let row = 0; row < rows; row += perTurn) {
      const portion = Array.from({ length: perTurn }, (_, index) => sampleOf((row + index) % miners, timeOf(row)));
      const began = performance.now();
      await store.samples.append(portion);
      took += performance.now() - began;
    }
    await store.close();
    return (1000 * rows) / took;
  },

  /**
   * A day at 10 s of so many miners. The finished hours of four miners go through the store, which packs them; their
   * packed rows are then copied to all others within SQLite. The hour under way goes through the store for all.
   */
  fill: async (input) => {
    const { file, miners, rows } = Filling.parse(input);
    const now = Date.now();
    const begun = Math.floor((now - 120_000) / hour) * hour;
    const first = await openStore({ file, now: Date.now });
    for (let time = now - rows * period; time < begun; time += period)
      await first.samples.append(Array.from({ length: patterns }, (_, place) => sampleOf(place, time)));
    while (await first.samples.pack(now));
    await first.close();
    copyHours(file, miners);
    const store = await openStore({ file, now: Date.now });
    for (let time = begun; time < now; time += period)
      await store.samples.append(Array.from({ length: miners }, (_, place) => sampleOf(place, time)));
    await store.close();
  },

  /** ms of the call, for so many miners that were not asked for before, each once: every reading, and as shown. */
  ask: async (input) => {
    const { file, miners, asked } = Asking.parse(input);
    const store = await openStore({ file, now: Date.now });
    // Nothing listens there, and nobody asks again for an hour.
    const declared = Array.from({ length: asked }, (_, index) => ({ address: `127.104.255.${index + 1}:9` }));
    const config = Config.parse({ poll: { interval: 3600 }, miners: declared });
    const service = await startService({ config, store, log: pino({ level: "silent" }) });
    const times: { readings: number[]; shown: number[]; points: number } = { readings: [], shown: [], points: 0 };
    for (let place = 0; place < asked; place += 1) {
      const range = { id: firstId + place, from: Date.now() - 24 * hour, to: Date.now() };
      const before = performance.now();
      const { points } = await service.getHistory({ ...range, step: 0 }, { actor: "bench" });
      const between = performance.now();
      await service.getHistory(range, { actor: "bench" });
      times.readings.push(between - before);
      times.shown.push(performance.now() - between);
      times.points = points.length;
    }
    await service.close();
    await store.close();
    return { ...times, miners };
  },
});

/** Miners whose hours are packed; the others get copies. */
const patterns = 4;

const timeOf = (row: number): number => 1_700_000_000_000 + row;

const sampleOf = (place: number, time: number): Sample => ({
  minerId: firstId + place,
  time: time + (place % 97),
  hashrate: 1e14 + ((time + place) % 1_000_003) * 1e6,
  power: 3_000 + ((time + place) % 101),
  temperature: 60 + ((time + place) % 13),
  energy: place + (time - 1_700_000_000_000) / 1200,
});

function copyHours(file: string, miners: number): void {
  const database = new DatabaseSync(file);
  database.exec("pragma synchronous = off");
  database
    .prepare(
      `with recursive place(n) as (select ${patterns} union all select n + 1 from place where n < $last)
       insert into sample_hour
         select hour, ${firstId} + n, samples
         from (select distinct hour as h from sample_hour) join place
         join sample_hour on hour = h and miner_id = ${firstId} + n % ${patterns}
         order by h, n`,
    )
    .run({ last: miners - 1 });
  database.close();
}
