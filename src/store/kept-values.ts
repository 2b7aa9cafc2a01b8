import { type Database, plain } from "./database.ts";

/** The units in which the MQTT bridge shows hash rates. */
export const mqttUnits = "mqtt.units";
/** The batch of money that was added last. */
export const moneyBatch = "money.batch";
/** What the signals of curtailments have done. */
export const signalMemories = "curtailment.signals";
/** Kept whatever sources are in use. */
const noSources: ReadonlySet<string> = new Set([mqttUnits, moneyBatch, signalMemories]);

/** The last good value of each external source, as JSON, and when it was read (epoch ms). */
export interface KeptValues {
  get(source: string): { readonly value: unknown; readonly at: number } | undefined;
  /** Throws store.full. */
  save(source: string, value: unknown, at: number): Promise<void>;
  /** Drops all other sources. Throws store.full. */
  keep(sources: ReadonlySet<string>): Promise<void>;
}

export const openKeptValues = async (database: Database): Promise<KeptValues> => {
  const { tables } = database;
  const upsert =
    "insert into source_value (source, at, value) values (?, ?, ?) " +
    "on conflict (source) do update set at = excluded.at, value = excluded.value";
  const rows = await tables.selectFrom("source_value").selectAll().execute();
  const known = new Map(rows.map(({ source, value, at }) => [source, { value, at }]));
  return {
    get: (source) => {
      const row = known.get(source);
      return row === undefined ? undefined : { value: parsed(row.value), at: row.at };
    },
    save: async (source, value, at) => {
      const row = { value: JSON.stringify(value), at: Math.round(at) };
      await database.write([plain(upsert, source, row.at, row.value)]);
      known.set(source, row);
    },
    keep: async (sources) => {
      const dropped = [...known.keys()].filter((source) => !noSources.has(source) && !sources.has(source));
      if (dropped.length === 0) return;
      await database.free(dropped.map((source) => tables.deleteFrom("source_value").where("source", "=", source)));
      for (const source of dropped) known.delete(source);
    },
  };
};

/** A damaged row counts as missing: the schema of its reader refuses undefined. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
