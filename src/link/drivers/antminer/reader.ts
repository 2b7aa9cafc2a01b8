import { asicModel } from "../../../catalogue/asic-models.ts";
import { RigbridgeError } from "../../../contract/problems.ts";
import type { Identity } from "../../../contract/readings.ts";
import type { PoolReading } from "../../driver.ts";
import { normalMac, unknownIdentity } from "../../identity.ts";
import type { Link } from "../../link.ts";
import type { Pace } from "../../pace.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import type { RpcTransport } from "../../transports/rpc.ts";
import { type Kind, kindOf } from "../cgminer/identity.ts";
import { refusedSummary, standsInForSummary } from "../cgminer/readings.ts";
import { accepted, poolsOf } from "../shared/cgminer-replies.ts";
import { asleep, type MinerConfig } from "./config.ts";
import { poolsOfWeb, type Remarks, type Report, remarksOf, reportOfRpc, reportOfWeb } from "./stats.ts";
import type { AntminerWeb, Generation } from "./web.ts";

/** What one read brings. */
export interface Snapshot {
  readonly identity: Identity;
  readonly algorithm: string | null;
  /** null while the mining program restarts; `silence` is the sentence for it. */
  readonly report: Report | null;
  readonly silence: string | null;
  readonly generation: Generation;
  /** null where it cannot be read. */
  readonly config: MinerConfig | null;
  readonly blinks: boolean | null;
  readonly remarks: Remarks | null;
  readonly foundBlocks: number | null;
  /** Why the web interface does not answer. */
  readonly trouble: RigbridgeError | null;
}

/** Of a read's time, for one page. */
const pageShare = 0.5;
/** Until an interface that did not answer is tried again, while the other answers. */
const retryAfterMs = 60_000;

type Tried<T> = { readonly value: T } | { readonly error: RigbridgeError };

/**
 * Reads over the web interface, and over RPC for better values there or if the web interface does not answer. One
 * request at a time; rarely changing pages are read in turn, one with each read.
 */
export class AntminerReader {
  readonly #rpc: RpcTransport;
  readonly #web: AntminerWeb;
  readonly #pace: Pace;
  /** undefined before they were read. */
  #kind: Kind | null | undefined;
  #system: TolerantReader | undefined;
  #blinks: boolean | null | undefined;
  /** Both are read again; until they answer, the old answers stay valid. */
  #askAgain = false;
  #mac: string | null = null;
  #remarks: Remarks | null = null;
  #foundBlocks: number | null = null;
  #turn = 0;
  /** Of the monotonic clock. */
  #webRetryAt = 0;
  #rpcRetryAt = 0;
  #trouble: RigbridgeError | null = null;
  #uptime: number | null = null;

  constructor({ rpc, pace }: Pick<Link, "rpc" | "pace">, web: AntminerWeb) {
    this.#rpc = rpc;
    this.#pace = pace;
    this.#web = web;
  }

  /** The next read reads the identity again, over both interfaces. */
  doubt(): void {
    this.#kind = undefined;
    this.#system = undefined;
    this.#webRetryAt = 0;
    this.#rpcRetryAt = 0;
  }

  /** The next read reads whether the light blinks. */
  rereadLight(): void {
    this.#blinks = undefined;
  }

  async read(signal: AbortSignal, notes: Notes): Promise<Snapshot> {
    if (performance.now() >= this.#webRetryAt) this.#trouble = await this.#meet(signal, notes);
    const generation = this.#trouble === null ? await this.#web.generation(signal) : null;
    const config = this.#trouble === null ? await this.#config(signal, notes) : null;
    const found = await this.#report(generation, config, signal, notes);
    if ("error" in found && config === null) throw this.#failure(found.error);
    if (this.#kind === undefined || this.#askAgain) await this.#readVersion(signal);
    if (this.#trouble === null && !this.#pace.isSlow) await this.#readInTurn(generation, signal, notes);
    const report = "value" in found ? found.value : null;
    const identity = this.#identity(report?.model ?? null);
    const algorithm = this.#kind?.algorithm ?? asicModel("Antminer", identity.model)?.algorithm ?? null;
    this.#noticeRestart(report?.readings.uptime ?? null);
    return {
      identity,
      algorithm,
      report,
      silence: "error" in found ? `the mining program does not answer: ${found.error.unquoted}` : null,
      generation: this.#trouble === null ? generation : null,
      config,
      blinks: this.#blinks ?? null,
      remarks: this.#remarks,
      foundBlocks: this.#foundBlocks,
      trouble: this.#trouble,
    };
  }

  /** Identifies the device and its pages; returns why the web interface cannot be used, otherwise null. */
  async #meet(signal: AbortSignal, notes: Notes): Promise<RigbridgeError | null> {
    if (this.#system === undefined || this.#askAgain) {
      const answer = await this.#try(signal, (short) => this.#web.ask("get_system_info", short, notes));
      if ("error" in answer && isClosed(answer.error)) return this.#closed(answer.error);
      if ("error" in answer) notes.add(`its identity cannot be read: ${answer.error.unquoted}`);
      else this.#introduce(new TolerantReader(answer.value, notes, "system"));
    }
    const pages = await this.#try(signal, (short) => this.#web.generation(short));
    return "error" in pages ? this.#closed(pages.error) : null;
  }

  #introduce(system: TolerantReader): void {
    const mac = normalMac(system.text("macaddr"));
    if (this.#mac !== null && mac !== this.#mac) this.#web.forget();
    this.#mac = mac;
    this.#system = system;
  }

  #closed(error: RigbridgeError): RigbridgeError {
    this.#webRetryAt = performance.now() + retryAfterMs;
    return error;
  }

  async #config(signal: AbortSignal, notes: Notes): Promise<MinerConfig | null> {
    const config = await this.#try(signal, (short) => this.#web.config(short, notes));
    if ("value" in config) return config.value;
    if (isClosed(config.error)) this.#trouble = this.#closed(config.error);
    else notes.add(`its configuration cannot be read: ${config.error.unquoted}`);
    return null;
  }

  async #report(
    generation: Generation,
    config: MinerConfig | null,
    signal: AbortSignal,
    notes: Notes,
  ): Promise<Tried<Report>> {
    if (this.#trouble === null && generation === "new") {
      const stats = await this.#try(signal, (short) => this.#web.ask("stats", short, notes));
      if ("value" in stats && (config?.mode === asleep || hasStatistics(stats.value)))
        return { value: reportOfWeb(stats.value, await this.#pools(signal, notes), notes, this.#identity(null).model) };
    }
    const byRpc = await this.#reportOfRpc(signal, notes);
    if ("value" in byRpc || this.#trouble !== null || generation !== "old") return byRpc;
    const byPages = await this.#try(signal, (short) => this.#reportOfPages(short, notes));
    if ("value" in byPages) this.#postponeRpc(notes);
    return byPages;
  }

  /** The RPC reports the active pool, which the page does not. */
  async #pools(signal: AbortSignal, notes: Notes): Promise<PoolReading[]> {
    const listed = await this.#command("pools", signal, notes);
    if ("value" in listed) return poolsOf(new TolerantReader(listed.value, notes, "").list("POOLS"));
    this.#postponeRpc(notes);
    const pages = await this.#try(signal, (short) => this.#web.ask("pools", short, notes));
    if ("value" in pages) return poolsOfWeb(pages.value, notes);
    notes.add(`the counters of its pools cannot be read: ${pages.error.unquoted}`);
    return [];
  }

  async #reportOfRpc(signal: AbortSignal, notes: Notes): Promise<Tried<Report>> {
    const summary = await this.#command("summary", signal, notes);
    if ("error" in summary && summary.error.code !== "rig.refused") return summary;
    const stats = await this.#command("stats", signal, notes);
    if ("error" in summary) {
      if ("error" in stats || !standsInForSummary(stats.value)) return summary;
      notes.add(refusedSummary);
    }
    const pools = await this.#command("pools", signal, notes);
    for (const part of [pools, stats]) if ("error" in part) notes.add(part.error.unquoted);
    const answered = (part: Tried<unknown>): unknown => ("value" in part ? part.value : null);
    return {
      value: reportOfRpc(
        { summary: answered(summary), pools: answered(pools), stats: answered(stats) },
        notes,
        this.#identity(null).model,
      ),
    };
  }

  /** Older firmware has the reports of its RPC on its pages. */
  async #reportOfPages(signal: AbortSignal, notes: Notes): Promise<Report> {
    const summary = await this.#web.ask("miner_summary", signal, notes);
    const pools = await this.#web.ask("miner_pools", signal, notes);
    const stats = await this.#web.ask("miner_stats", signal, notes);
    return reportOfRpc({ summary, pools, stats }, notes, this.#identity(null).model);
  }

  /** One report of the RPC. */
  #command(
    name: "summary" | "pools" | "stats" | "version",
    signal: AbortSignal,
    notes: Notes,
  ): Promise<Tried<unknown>> {
    if (performance.now() < this.#rpcRetryAt) {
      const error = new RigbridgeError("rig.unreachable", `${this.#rpc.at}: did not answer the last request`);
      return Promise.resolve({ error });
    }
    return this.#try(signal, async (short) => {
      const reply = await this.#rpc.send(name, undefined, short);
      if (name !== "version") accepted(this.#rpc.at, name, reply.value);
      notes.addAll(reply.notes);
      return reply.value;
    });
  }

  #postponeRpc(notes: Notes): void {
    notes.add("the RPC at port 4028 does not answer; only the web interface is read");
    this.#rpcRetryAt = Math.max(this.#rpcRetryAt, performance.now() + retryAfterMs);
  }

  /** Newer firmware no longer answers `version`, but names itself in its statistics. */
  async #readVersion(signal: AbortSignal): Promise<void> {
    const notes = new Notes();
    const version = await this.#command("version", signal, notes);
    if ("error" in version) return;
    const known = kindOf(version.value, null);
    if (known !== undefined && known.identity.model === null) {
      const stats = await this.#command("stats", signal, notes);
      this.#kind = ("value" in stats ? kindOf(version.value, stats.value) : undefined) ?? known;
    } else this.#kind = known ?? null;
  }

  /** Everything with the first read, then one page with each. A failure does not fail the read. */
  async #readInTurn(generation: Generation, signal: AbortSignal, notes: Notes): Promise<void> {
    const first = this.#turn === 0;
    this.#turn = (this.#turn % 3) + 1;
    if (generation === null) return;
    if (first || this.#turn === 1 || this.#blinks === undefined) {
      const blinks = await this.#try(signal, (short) => this.#web.blinks(short, notes));
      this.#blinks = "value" in blinks ? blinks.value : null;
      if ("error" in blinks) notes.add(blinks.error.unquoted);
    }
    // The reports of older firmware contain all that follows.
    if (generation === "old") return;
    if (first || this.#turn === 2) {
      const summary = await this.#try(signal, (short) => this.#web.ask("summary", short, notes));
      this.#remarks = "value" in summary ? remarksOf(summary.value, notes) : null;
      if ("error" in summary) notes.add(summary.error.unquoted);
    }
    if (first || this.#turn === 3) {
      const summary = await this.#command("summary", signal, notes);
      const [first] = "value" in summary ? new TolerantReader(summary.value, notes, "").list("SUMMARY") : [];
      this.#foundBlocks = first?.integer("Found Blocks") ?? null;
    }
  }

  /**
   * Neither interface answered: the web interface's error unless it is mere silence, since a login can be corrected.
   */
  #failure(byRpc: RigbridgeError): RigbridgeError {
    this.#webRetryAt = 0;
    this.#rpcRetryAt = 0;
    return this.#trouble === null || this.#trouble.code === "rig.unreachable" ? byRpc : this.#trouble;
  }

  /** Runs with its own timeout, so that one page cannot fail the read; after the caller's deadline it throws. */
  async #try<T>(signal: AbortSignal, work: (short: AbortSignal) => Promise<T>): Promise<Tried<T>> {
    try {
      return { value: await work(AbortSignal.any([signal, AbortSignal.timeout(this.#pace.partMs(pageShare))])) };
    } catch (error) {
      if (!(error instanceof RigbridgeError) || signal.aborted) throw error;
      return { error };
    }
  }

  /** After a restart it may be other firmware. */
  #noticeRestart(uptime: number | null): void {
    this.#askAgain = uptime !== null && this.#uptime !== null && uptime < this.#uptime;
    this.#uptime = uptime ?? this.#uptime;
  }

  #identity(model: string | null): Identity {
    const system = this.#system;
    const kind = this.#kind?.identity ?? unknownIdentity;
    return {
      make: "Antminer",
      model: kind.model ?? system?.text("minertype") ?? model,
      firmware: system?.text("system_filesystem_version") ?? kind.firmware,
      mac: normalMac(system?.text("macaddr") ?? null),
      hostname: system?.text("hostname") ?? null,
      serial: system?.text("serinum") ?? system?.text("serial_no") ?? null,
    };
  }
}

/** Whether the error concerns the whole web interface and not one page. */
const isClosed = ({ code }: RigbridgeError): boolean =>
  code === "rig.login" || code === "rig.unreachable" || code === "rig.timeout";

const hasStatistics = (stats: unknown): boolean => new TolerantReader(stats, new Notes(), "").list("STATS").length > 0;
