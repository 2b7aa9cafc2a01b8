import { RigbridgeError } from "../../../contract/problems.ts";
import { isRecord, type Notes, TolerantReader } from "../../tolerant-reader.ts";
import type { RpcTransport } from "../../transports/rpc.ts";
import { firstOf, isRefusal, statusOf } from "../shared/cgminer-replies.ts";

/** Asked with each read. */
export const liveReports = [
  "summary",
  "config",
  "power",
  "devs",
  "pools",
  "stats",
  "fans",
  "temps",
  "tempctrl",
  "atm",
] as const;
/** Asked now and then. */
export const seldomReports = ["version", "profiles", "events"] as const;

export type ReportName = (typeof liveReports)[number] | (typeof seldomReports)[number];

/** Answers as they came; missing where the rig gave none. */
export type Reports = Readonly<Partial<Record<ReportName, unknown>>>;

/** The records of a report; a rig that refuses the report has none. */
export function recordsOf(reports: Reports, name: ReportName, section: string, notes: Notes): TolerantReader[] {
  const answer = reports[name];
  const status = statusOf(answer);
  if (status !== null && isRefusal(status)) {
    notes.add(`"${name}": ${status.words}`);
    return [];
  }
  return new TolerantReader(answer, notes, "").list(section);
}

/** Its only record, or an empty one. */
export const recordOf = (reports: Reports, name: ReportName, section: string, notes: Notes): TolerantReader =>
  recordsOf(reports, name, section, notes)[0] ?? new TolerantReader(undefined, notes, section);

/** Asks for reports: all in one question, as LuxOS allows, or one after the other where that is not understood. */
export class LuxosReports {
  readonly #rpc: RpcTransport;
  /** Whether `a+b` works; null until it was tried. */
  #joins: boolean | null = null;

  constructor(rpc: RpcTransport) {
    this.#rpc = rpc;
  }

  /** Throws when the first of them cannot be had; of the others those are left out that cannot be read. */
  async ask(names: readonly ReportName[], signal: AbortSignal, notes: Notes): Promise<Reports> {
    if (this.#joins !== false) {
      const joined = await this.#joined(names, signal, notes);
      if (joined !== null) return joined;
    }
    return this.#apart(names, signal, notes);
  }

  /** null when the rig does not join; that is remembered. */
  async #joined(names: readonly ReportName[], signal: AbortSignal, notes: Notes): Promise<Reports | null> {
    const [leading = "summary"] = names;
    try {
      const { value, notes: repairs } = await this.#rpc.send(names.join("+"), undefined, signal);
      const parts = isRecord(value) ? value : {};
      if (!Array.isArray(parts[leading])) {
        this.#joins = false;
        return null;
      }
      this.#joins = true;
      notes.addAll(repairs);
      return Object.fromEntries(names.map((name) => [name, firstOf(parts[name])]));
    } catch (error) {
      // Some answer a joined command with nothing at all, or not. What has joined before is only disturbed.
      const code = error instanceof RigbridgeError ? error.code : null;
      if (this.#joins === null && (code === "rig.garbled" || code === "rig.timeout")) this.#joins = false;
      if (this.#joins !== false || code === "rig.timeout") throw error;
      return null;
    }
  }

  async #apart(names: readonly ReportName[], signal: AbortSignal, notes: Notes): Promise<Reports> {
    const reports: Partial<Record<ReportName, unknown>> = {};
    for (const [index, name] of names.entries()) {
      try {
        const { value, notes: repairs } = await this.#rpc.send(name, undefined, signal);
        reports[name] = value;
        notes.addAll(repairs);
      } catch (error) {
        const code = error instanceof RigbridgeError ? error.code : null;
        // Whether the rig hung or only the joined command did is open again.
        if (code === "rig.timeout") this.#joins = null;
        const garbled = code === "rig.garbled";
        if (index === 0 || !garbled) throw error;
        notes.add(`its "${name}" could not be read`);
      }
    }
    return reports;
  }
}
