import { RigbridgeError } from "../../../contract/problems.ts";
import { isRecord } from "../../../contract/record.ts";
import { type Notes, TolerantReader } from "../../tolerant-reader.ts";
import type { RpcTransport } from "../../transports/rpc.ts";
import { firstOf, isRefusal, statusOf } from "../shared/cgminer-replies.ts";

/** Read each time. */
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
/** Reports that are read at longer intervals. */
export const seldomReports = ["version", "profiles", "events"] as const;

export type ReportName = (typeof liveReports)[number] | (typeof seldomReports)[number];

/** Raw answers; missing where the rig gave none. */
export type Reports = Readonly<Partial<Record<ReportName, unknown>>>;

/** The records of a report; none where the rig refuses it. */
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

/** Reads reports in one request, as LuxOS allows, or one by one where that is not supported. */
export class LuxosReports {
  readonly #rpc: RpcTransport;
  /** Whether joined commands (`a+b`) work; null before the first try. */
  #joins: boolean | null = null;

  constructor(rpc: RpcTransport) {
    this.#rpc = rpc;
  }

  /** Throws if the first report cannot be read; other unreadable ones are left out. */
  async ask(names: readonly ReportName[], signal: AbortSignal, notes: Notes): Promise<Reports> {
    if (this.#joins !== false) {
      const joined = await this.#joined(names, signal, notes);
      if (joined !== null) return joined;
    }
    return this.#separate(names, signal, notes);
  }

  /** null when the rig does not join commands; that is remembered. */
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
      // Some rigs do not answer a joined command. Once joining has worked, a failure is temporary.
      const code = error instanceof RigbridgeError ? error.code : null;
      if (this.#joins === null && (code === "rig.garbled" || code === "rig.timeout")) this.#joins = false;
      if (this.#joins !== false || code === "rig.timeout") throw error;
      return null;
    }
  }

  async #separate(names: readonly ReportName[], signal: AbortSignal, notes: Notes): Promise<Reports> {
    const reports: Partial<Record<ReportName, unknown>> = {};
    for (const [index, name] of names.entries()) {
      try {
        const { value, notes: repairs } = await this.#rpc.send(name, undefined, signal);
        reports[name] = value;
        notes.addAll(repairs);
      } catch (error) {
        const code = error instanceof RigbridgeError ? error.code : null;
        // Either the rig hung or only the joined command, so joining is tried again.
        if (code === "rig.timeout") this.#joins = null;
        const garbled = code === "rig.garbled";
        if (index === 0 || !garbled) throw error;
        notes.add(`its "${name}" could not be read`);
      }
    }
    return reports;
  }
}
