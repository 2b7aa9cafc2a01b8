import { RigbridgeError } from "../../../contract/problems.ts";
import type { Locked } from "../../driver.ts";
import { type Notes, TolerantReader } from "../../tolerant-reader.ts";
import type { RpcTransport } from "../../transports/rpc.ts";
import { accepted } from "./cgminer-replies.ts";

/** The reports of a cgminer or its kin, read one after another. */
export class RpcReports<Name extends string> {
  readonly #values: ReadonlyMap<Name, unknown>;
  readonly #notes: Notes;

  private constructor(values: ReadonlyMap<Name, unknown>, notes: Notes) {
    this.#values = values;
    this.#notes = notes;
  }

  /** Throws `rig.refused` where the first of them is refused; the others may be missing. */
  static async read<Name extends string>(
    rpc: RpcTransport,
    names: readonly [Name, ...Name[]],
    signal: AbortSignal,
    notes: Notes,
  ): Promise<RpcReports<Name>> {
    const values = new Map<Name, unknown>();
    for (const name of names) {
      const reply = await rpc.send(name, undefined, signal);
      notes.addAll(reply.notes);
      values.set(name, reply.value);
    }
    accepted(rpc.at, names[0], values.get(names[0]));
    return new RpcReports(values, notes);
  }

  value(name: Name): unknown {
    return this.#values.get(name);
  }

  /** Its records; none where it is missing. */
  list(name: Name): readonly TolerantReader[] {
    return recordsOf(this.value(name), name.toUpperCase(), this.#notes);
  }

  /** Its first record; an empty one where it is missing. */
  first(name: Name): TolerantReader {
    return firstRecordOf(this.value(name), name.toUpperCase(), this.#notes);
  }
}

export const recordsOf = (value: unknown, section: string, notes: Notes): readonly TolerantReader[] =>
  new TolerantReader(value, notes, "").list(section, 64);

export const firstRecordOf = (value: unknown, section: string, notes: Notes): TolerantReader =>
  recordsOf(value, section, notes)[0] ?? new TolerantReader(undefined, notes, section);

/**
 * What a web interface shows beside the RPC, which is read nevertheless: null without its login, and with a note while `what`
 * does not answer. Throws `rig.timeout`.
 */
export async function besideRpc<T>(
  { locked }: { readonly locked: Locked | null },
  what: "its web API does" | "its pages do",
  notes: Notes,
  read: () => Promise<T>,
): Promise<T | null> {
  if (locked?.why === "login missing") return null;
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof RigbridgeError) || error.code === "rig.timeout") throw error;
    if (error.code !== "rig.login") notes.add(`${what} not answer, so only its RPC is read`);
    return null;
  }
}
