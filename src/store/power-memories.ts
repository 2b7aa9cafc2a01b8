import { z } from "zod";
import { ControlValue } from "../contract/readings.ts";
import type { Database } from "./database.ts";
import { deferredDelete } from "./deferred-delete.ts";
import { flusher } from "./flusher.ts";
import { upsert } from "./upsert.ts";
import { writeSoon } from "./write-soon.ts";

/** What is remembered of a rig's power across restarts. W, epoch ms. */
export const PowerMemory = z.object({
  full: z.number().nullable().describe("W at its lasting settings, not throttled"),
  modes: z.record(z.string(), z.number()).describe("W in each of its modes"),
  before: z.record(z.string(), ControlValue).describe("its settings before it was stopped, by control"),
  mining: z.boolean().nullable(),
  startedAt: z.number().nullable(),
  stoppedAt: z.number().nullable(),
  changes: z.array(z.number()).describe("times of lasting changes in the last hour"),
  command: z
    .object({
      at: z.number(),
      by: z.enum(["tuning", "loop", "rule", "curtailment", "person", "emergency", "safety"]),
      who: z.string(),
      stops: z.boolean(),
    })
    .nullable()
    .default(null)
    .describe("the last command about its power that did not fail"),
  range: z
    .object({ min: z.number(), max: z.number() })
    .nullable()
    .default(null)
    .describe("W that front ends can set it to, where that is a range"),
  rungs: z
    .array(
      z.object({
        watts: z.number().describe("the setting"),
        draw: z.number().describe("measured W"),
        hashrate: z.number().describe("H/s"),
        algorithm: z.string(),
      }),
    )
    .default([])
    .describe("what the rig hashes and draws at settings it has settled at"),
});
export type PowerMemory = z.infer<typeof PowerMemory>;

export interface PowerMemories {
  get(minerId: number): PowerMemory | undefined;
  /** Applies at once, and is written at the end of this turn of the event loop, or once the store is writable again. */
  save(minerId: number, memory: PowerMemory): void;
  forget(minerId: number): Promise<void>;
  /** Writes unwritten rows. Throws store.full. */
  flush(): Promise<void>;
}

const memoryRows = upsert("power_memory", { miner_id: "integer", value: "text" }, ["miner_id"]);

export const openPowerMemories = async (database: Database): Promise<PowerMemories> => {
  const { tables } = database;
  const memories = new Map<number, PowerMemory>();
  const unsaved = new Set<number>();

  for (const { miner_id, value } of await tables.selectFrom("power_memory").selectAll().execute()) {
    // A row that no longer fits the schema is dropped; its values are learnt again.
    const memory = PowerMemory.safeParse(JSON.parse(value));
    if (memory.success) memories.set(miner_id, memory.data);
  }

  const removal = deferredDelete(database, (minerId) => [
    tables.deleteFrom("power_memory").where("miner_id", "=", minerId),
  ]);

  const flushRows = flusher(
    (statements) => database.write(statements),
    () => {
      const ids = [...unsaved];
      if (ids.length === 0) return null;
      unsaved.clear();
      return {
        statements: [memoryRows(ids.map((minerId) => [minerId, JSON.stringify(memories.get(minerId))]))],
        failed: () => {
          for (const minerId of ids) if (memories.has(minerId)) unsaved.add(minerId);
        },
      };
    },
  );

  const flush = async (): Promise<void> => {
    await removal.flush();
    await flushRows();
  };
  const flushSoon = writeSoon(flush);

  return {
    get: (minerId) => memories.get(minerId),
    flush,

    save: (minerId, memory) => {
      memories.set(minerId, memory);
      unsaved.add(minerId);
      flushSoon();
    },

    forget: (minerId) => {
      memories.delete(minerId);
      unsaved.delete(minerId);
      return removal.forget(minerId);
    },
  };
};
