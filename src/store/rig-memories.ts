import { z } from "zod";
import { CodedText } from "../contract/coded-text.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { Control, Identity, ReasonCode } from "../contract/readings.ts";
import { type Database, plain, type SqlValue, type Statement } from "./database.ts";
import { deferredDelete } from "./deferred-delete.ts";
import { flusher } from "./flusher.ts";
import { StandbyRows } from "./standby-rows.ts";
import type { Tables } from "./tables.ts";
import { upsert } from "./upsert.ts";
import { writeSoon } from "./write-soon.ts";

/** The layout of a rig, so that a rig that is off at start keeps its boards and fans. */
export const Layout = z.object({ boards: z.array(z.int()).describe("slots"), fans: z.int() });
export type Layout = z.infer<typeof Layout>;

/** `since`: epoch ms */
export const KeptReason = z.object({
  code: ReasonCode,
  text: z.string(),
  since: z.number(),
  coded: CodedText.optional(),
});
export const Records = z.object({ bestShare: z.number().nullable(), foundBlocks: z.number().nullable() });

/** What is remembered of a rig across restarts. */
export interface RigMemory {
  readonly minerId: number;
  /** Unique over all miners. */
  readonly uid: string | null;
  readonly driver: string | null;
  readonly identity: Identity | null;
  readonly controls: readonly Control[];
  readonly layout: Layout;
  /** epoch ms */
  readonly startedAt: number | null;
  /** Wh */
  readonly energy: number | null;
  readonly software: string | null;
  /** Why it did not hash when this was written. */
  readonly reason: z.infer<typeof KeptReason> | null;
  readonly records: z.infer<typeof Records>;
}

export interface RigMemories {
  all(): readonly RigMemory[];
  get(minerId: number): RigMemory | undefined;
  /**
   * Applies at once and is written with all others of the next 100 ms. Throws in.use if another miner has this uid.
   * After a failed write it writes at once, and throws store.full without keeping anything.
   */
  remember(minerId: number, patch: Partial<Omit<RigMemory, "minerId">>): Promise<void>;
  /** In one transaction. Throws store.full; the values are kept and written with the next batch. */
  saveEnergy(batch: readonly { readonly minerId: number; readonly energy: number }[]): Promise<void>;
  forget(minerId: number): Promise<void>;
  /** Writes unwritten rows. Throws store.full. */
  flush(): Promise<void>;
}

/** A newly read rig is written twice: one row for both. */
const batchMs = 100;

const noRecords: RigMemory["records"] = { bestShare: null, foundBlocks: null };
const blank: Omit<RigMemory, "minerId" | "layout"> = {
  uid: null,
  driver: null,
  identity: null,
  controls: [],
  startedAt: null,
  energy: null,
  software: null,
  reason: null,
  records: noRecords,
};
const noLayout: Layout = { boards: [], fans: 0 };

/** For a service that waits. */
export const rigMemoryRows = () => {
  const shapes = readShapes();
  return {
    memories: new StandbyRows({
      from: "rig_memory",
      key: "miner_id",
      read: (row: Tables["rig_memory"]) => fromRow(row, shapes),
    }),
    energies: new StandbyRows({ from: "rig_energy", key: "miner_id", read: (row: Tables["rig_energy"]) => row }),
  };
};

export const openRigMemories = async (
  database: Database,
  standby?: ReturnType<typeof rigMemoryRows>,
): Promise<RigMemories> => {
  const { tables } = database;
  const memories = new Map<number, RigMemory>();
  const minerOfUid = new Map<string, number>();
  const unsaved = new Map<number, number>();
  /** Miners whose row is to be written. */
  const changed = new Set<number>();
  /** Miners among these with a new uid: the old one may now belong to another miner. */
  const released = new Set<number>();
  let isFailing = false;

  const memoryOf = (minerId: number): RigMemory => memories.get(minerId) ?? { ...blank, minerId, layout: noLayout };

  const take = (memory: RigMemory): void => {
    const before = memories.get(memory.minerId)?.uid;
    if (typeof before === "string") {
      minerOfUid.delete(before);
      if (before !== memory.uid) released.add(memory.minerId);
    }
    if (memory.uid !== null) minerOfUid.set(memory.uid, memory.minerId);
    memories.set(memory.minerId, memory);
  };

  const energies = new Map<number, number>();
  const storedEnergies = standby?.energies.take() ?? (await tables.selectFrom("rig_energy").selectAll().execute());
  for (const row of storedEnergies) energies.set(row.miner_id, row.energy);
  for (const memory of standby?.memories.take() ?? (await storedMemories(tables))) {
    take({ ...memory, energy: energies.get(memory.minerId) ?? null });
    energies.delete(memory.minerId);
  }
  for (const [minerId, energy] of energies) take({ ...memoryOf(minerId), energy });

  const release = "update rig_memory set uid = null where miner_id = ?";
  const write = (statements: readonly Statement[]) => database.write(statements);

  const flushRows = flusher(write, () => {
    const [rows, free] = [[...changed], [...released]];
    if (rows.length === 0) return null;
    changed.clear();
    released.clear();
    return {
      statements: [
        ...free.map((minerId) => plain(release, minerId)),
        memoryRows(rows.map((id) => toRow(memoryOf(id)))),
      ],
      written: () => {
        isFailing = false;
      },
      failed: () => {
        isFailing = true;
        for (const id of rows) if (memories.has(id)) changed.add(id);
        for (const id of free) released.add(id);
      },
    };
  });
  const flushEnergy = flusher(write, () => {
    const rows = [...unsaved];
    if (rows.length === 0) return null;
    unsaved.clear();
    return {
      statements: [energyRows(rows)],
      failed: () => {
        for (const [minerId, energy] of rows)
          if (memories.has(minerId) && !unsaved.has(minerId)) unsaved.set(minerId, energy);
      },
    };
  });

  const saveLater = writeSoon(flushRows, (run) => setTimeout(run, batchMs));

  const removal = deferredDelete(database, (minerId) => [
    tables.deleteFrom("rig_memory").where("miner_id", "=", minerId),
    tables.deleteFrom("rig_energy").where("miner_id", "=", minerId),
  ]);

  const flush = async (): Promise<void> => {
    await removal.flush();
    await flushEnergy();
    await flushRows();
  };

  const saveEnergy: RigMemories["saveEnergy"] = async (batch) => {
    for (const { minerId, energy } of batch) {
      take({ ...memoryOf(minerId), energy });
      unsaved.set(minerId, energy);
    }
    await flush();
  };

  /** Throws in.use. */
  const changedMemory = (minerId: number, patch: Partial<Omit<RigMemory, "minerId">>): RigMemory => {
    const memory = { ...memoryOf(minerId), ...patch };
    const other = memory.uid === null ? undefined : minerOfUid.get(memory.uid);
    if (other !== undefined && other !== minerId)
      // Every user of this miner reads it, including users who cannot see the other.
      throw new RigbridgeError("in.use", `The uid ${memory.uid} belongs to another miner`);
    return memory;
  };

  return {
    all: () => [...memories.values()],
    get: (minerId) => memories.get(minerId),
    saveEnergy,
    flush,

    remember: async (minerId, patch) => {
      const memory = changedMemory(minerId, patch);
      if (isFailing) {
        await flushRows();
        await write([memoryRows([toRow(memory)])]);
        isFailing = false;
      }
      take(changedMemory(minerId, patch));
      changed.add(minerId);
      saveLater();
      if (typeof patch.energy === "number") await saveEnergy([{ minerId, energy: patch.energy }]);
    },

    forget: async (minerId) => {
      const uid = memories.get(minerId)?.uid;
      if (typeof uid === "string") minerOfUid.delete(uid);
      memories.delete(minerId);
      unsaved.delete(minerId);
      changed.delete(minerId);
      await removal.forget(minerId);
    },
  };
};

const storedMemories = async (tables: Database["tables"]): Promise<readonly RigMemory[]> => {
  const shapes = readShapes();
  return (await tables.selectFrom("rig_memory").selectAll().execute()).map((row) => fromRow(row, shapes));
};

const energyRows = upsert("rig_energy", { miner_id: "integer", energy: "real" }, ["miner_id"]);
const memoryRows = upsert(
  "rig_memory",
  {
    miner_id: "integer",
    uid: "text",
    driver: "text",
    identity: "text",
    controls: "text",
    layout: "text",
    started_at: "real",
    software: "text",
    reason: "text",
    records: "text",
  },
  ["miner_id"],
);

const toRow = (memory: RigMemory): SqlValue[] => [
  memory.minerId,
  memory.uid,
  memory.driver,
  JSON.stringify(memory.identity),
  JSON.stringify(memory.controls),
  JSON.stringify(memory.layout),
  memory.startedAt,
  memory.software,
  JSON.stringify(memory.reason),
  JSON.stringify(memory.records),
];

/** Without its energy. A value that no longer fits the schema is dropped; the rig is read again. */
const fromRow = (
  row: Tables["rig_memory"],
  { controls, layout, records }: ReturnType<typeof readShapes>,
): RigMemory => ({
  minerId: row.miner_id,
  uid: row.uid,
  driver: row.driver,
  identity: read(Identity, row.identity) ?? null,
  controls: controls(row.controls) ?? [],
  layout: layout(row.layout) ?? noLayout,
  startedAt: row.started_at,
  energy: null,
  software: row.software,
  reason: (row.reason === "null" ? null : read(KeptReason, row.reason)) ?? null,
  records: records(row.records) ?? noRecords,
});

/** Many rigs have the same controls, layout and records: each text is parsed once, and the value is shared. */
const readShapes = () => ({
  controls: memoized((json) => read(z.array(Control), json)),
  layout: memoized((json) => read(Layout, json)),
  records: memoized((json) => read(Records, json)),
});

const mostShapes = 10_000;

const memoized = <T>(work: (text: string) => T): ((text: string) => T) => {
  const values = new Map<string, T>();
  return (text) => {
    const value = values.get(text) ?? work(text);
    // A service may wait for months, during which every rig has had others.
    if (values.size >= mostShapes) values.clear();
    values.set(text, value);
    return value;
  };
};

const read = <T>(schema: z.ZodType<T>, json: string): T | undefined => {
  try {
    return schema.safeParse(JSON.parse(json)).data;
  } catch {
    return undefined;
  }
};
