import type { SqliteConnection } from "./sqlite-connection.ts";

/** The last good value of each external source, as JSON, and when it was read (epoch ms). */
export interface KeptValues {
  get(source: string): { readonly value: unknown; readonly at: number } | undefined;
  /** Throws store.full. */
  save(source: string, value: unknown, at: number): void;
  /** Drops all other sources. Throws store.full. */
  keep(sources: ReadonlySet<string>): void;
}

export const openKeptValues = async (sqlite: SqliteConnection): Promise<KeptValues> => {
  const { tables } = sqlite;
  const read = sqlite.prepare("select value, at from source_value where source = ?");
  const upsert = sqlite.prepare(
    "insert into source_value (source, at, value) values (?, ?, ?) " +
      "on conflict do update set at = excluded.at, value = excluded.value",
  );
  const known = new Set(
    (await tables.selectFrom("source_value").select("source").execute()).map(({ source }) => source),
  );
  return {
    get: (source) => {
      if (!known.has(source)) return undefined;
      const row = sqlite.read(() => read.get(source));
      if (typeof row?.value !== "string" || typeof row.at !== "number") return undefined;
      return { value: parsed(row.value), at: row.at };
    },
    save: (source, value, at) => {
      sqlite.write(() => upsert.run(source, Math.round(at), JSON.stringify(value)));
      known.add(source);
    },
    keep: (sources) => {
      const dropped = [...known].filter((source) => !sources.has(source));
      if (dropped.length === 0) return;
      sqlite.free((run) => {
        for (const source of dropped) run(tables.deleteFrom("source_value").where("source", "=", source));
      });
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
