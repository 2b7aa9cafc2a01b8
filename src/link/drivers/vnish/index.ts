import { RigbridgeError } from "../../../contract/problems.ts";
import type { ControlKey, ControlValue, Identity } from "../../../contract/readings.ts";
import { type Steer, steer } from "../../controls.ts";
import type { Driver, PoolControls, Question, Reading, Rig, Signs } from "../../driver.ts";
import type { Link } from "../../link.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { isRefusal, statusOf } from "../shared/cgminer-replies.ts";
import { offers } from "./controls.ts";
import { poolActions, poolControls } from "./pools.ts";
import { type Presets, presetsOf } from "./presets.ts";
import { devicesOf, haltOf, identityOf, isStarting, poolsOf, readingsOf, type Snapshot } from "./readings.ts";
import { identityFrom, readByRpc } from "./rpc.ts";
import { VnishWeb } from "./web.ts";

/**
 * VNish, also sold as AnthillOS: firmware for Antminers with a web API, and a part of stock firmware's RPC.
 * Source: its OpenAPI document; the RPC as recorded.
 */
export const vnish: Driver = {
  id: "vnish",
  name: "VNish (AnthillOS, on Antminer)",
  evidence: { readings: "vendor document", controls: "vendor document" },
  ports: [80, 4028],
  login: { keys: ["password"], adds: "steered" },
  makersLogin: { username: "", password: "admin" },
  recognise: (signs) => recognise(signs),
  connect: (link) => new VnishRig(link),
};

/** Since 1.3 it refuses `version`, so a rig that does is asked for `stats`. */
function recognise({ root, version, told }: Signs): Partial<Identity> | Question | undefined {
  if (root !== null && /AnthillOS/i.test(root.body)) return { make: "VNish", ...identityFrom(version, "VERSION") };
  const known = identityFrom(version, "VERSION");
  if (known !== undefined) return known;
  const status = statusOf(version);
  if (status === null || !isRefusal(status)) return undefined;
  return Object.hasOwn(told, "stats") ? identityFrom(told.stats, "STATS") : { command: "stats" };
}

/** ms; what the rig is does not change, presets only with its tuning. */
const askAgainAfter = 300_000;
/** ms of a read that may go into pages beside the readings; what is left is asked for with the next read. */
const questionTime = 1_500;

const seldomPages = ["info", "autotune/presets", "model", "chains/factory-info", "chains"] as const;
type SeldomPage = (typeof seldomPages)[number];

class VnishRig implements Rig {
  readonly #link: Link;
  readonly #web: VnishWeb;
  readonly pools: PoolControls;
  /** As they came; null for what the rig does not show. */
  readonly #seldom = new Map<SeldomPage, { readonly at: number; readonly value: unknown }>();
  /** Whether its web was ever read. */
  #hasWeb = false;
  #askedLimit: number | null = null;
  #autoTarget: number | null = null;
  #steers: readonly Steer[] | undefined;

  constructor(link: Link) {
    this.#link = link;
    this.#web = new VnishWeb(link);
    this.pools = poolControls(this.#web);
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const notes = new Notes();
    let summary: TolerantReader;
    try {
      summary = new TolerantReader(await this.#get("summary", signal, notes), notes, "");
      this.#hasWeb = true;
    } catch (error) {
      if (!this.#hasWeb && isNoWeb(error)) return this.#readByRpc(error, signal);
      throw error;
    }
    const status = new TolerantReader(await this.#optional("status", signal, notes), notes, "status");
    const performance = new TolerantReader(await this.#optional("perf-summary", signal, notes), notes, "perf-summary");
    await this.#askSeldom(signal);
    const pages = this.#pages(summary.object("miner"), status, notes);
    const presets = this.#presets(performance, notes);
    return this.#reading(pages, presets, notes);
  }

  async set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    if (this.#steers === undefined) await this.read(signal);
    await this.#web.unlock(signal);
    if (this.#steers?.length === 0) await this.read(signal);
    return steer(this.#steers ?? [], key, value, signal);
  }

  doubt(): void {
    this.#seldom.delete("info");
    this.#seldom.delete("autotune/presets");
  }

  close(): void {
    this.#link.http.close();
    this.#link.rpc.close();
  }

  async #readByRpc(webError: unknown, signal: AbortSignal): Promise<Reading> {
    try {
      const reading = await readByRpc(this.#link.rpc, signal);
      this.#steers = [];
      return reading;
    } catch (error) {
      // Then nothing answers there, and the web is what should.
      throw error instanceof RigbridgeError ? webError : error;
    }
  }

  #reading(pages: Snapshot, presets: Presets, notes: Notes): Reading {
    const readings = readingsOf(pages, presets);
    const { locked } = this.#web;
    const mode = pages.miner.object("cooling").object("settings").object("mode");
    if (mode.text("name") === "auto") this.#autoTarget = mode.number("param", { absent: 0 }) ?? this.#autoTarget;
    const steers =
      locked === null
        ? offers(this.#web, {
            pages,
            presets,
            askedLimit: this.#askedLimit,
            limitAsked: (watts) => {
              this.#askedLimit = watts;
            },
            autoTarget: this.#autoTarget,
          })
        : [];
    this.#steers = steers;
    if (locked !== null) notes.add(locked.text);
    if (pages.status.boolean("restart_required") === true) notes.add("changed settings wait for a restart of mining");
    if (pages.status.boolean("reboot_required") === true) notes.add("changed settings wait for a reboot");
    if (presets.switches) notes.add("its preset switcher chooses presets by itself");
    return {
      identity: identityOf(pages),
      readings: { ...readings, notes: notes.list() },
      pools: poolsOf(pages),
      devices: devicesOf(pages, readings.boards),
      controls: steers.map(({ control }) => control),
      poolActions: locked === null ? poolActions : [],
      starting: isStarting(pages),
      halt: haltOf(pages),
      software: null,
      logInterval: null,
      workUtility: null,
      ...(locked === null ? {} : { locked }),
    };
  }

  #pages(miner: TolerantReader, status: TolerantReader, notes: Notes): Snapshot {
    const page = (name: SeldomPage): TolerantReader => new TolerantReader(this.#seldom.get(name)?.value, notes, name);
    if (miner.keys().length === 0) notes.add("the rig's summary is empty");
    return {
      miner,
      status,
      info: page("info"),
      model: page("model"),
      factory: page("chains/factory-info"),
      chips: chipsOf(this.#seldom.get("chains")?.value),
    };
  }

  #presets(performance: TolerantReader, notes: Notes): Presets {
    const value = this.#seldom.get("autotune/presets")?.value;
    const listed = Array.isArray(value) ? new TolerantReader({ presets: value }, notes, "").list("presets") : null;
    return presetsOf(listed, performance);
  }

  async #get(page: string, signal: AbortSignal, notes: Notes): Promise<unknown> {
    const reply = await this.#web.get(page, signal);
    for (const note of reply.notes) notes.add(note);
    return reply.value;
  }

  /** A page that older firmware does not have costs a note at most. */
  async #optional(page: string, signal: AbortSignal, notes: Notes): Promise<unknown> {
    try {
      return await this.#get(page, signal, notes);
    } catch (error) {
      if (!(error instanceof RigbridgeError) || error.code === "rig.timeout") throw error;
      notes.add(`its "${page}" could not be read`);
      return undefined;
    }
  }

  /** A read never fails for these. */
  async #askSeldom(signal: AbortSignal): Promise<void> {
    const until = performance.now() + questionTime;
    for (const page of seldomPages) {
      const last = this.#seldom.get(page);
      if (last !== undefined && performance.now() - last.at < askAgainAfter) continue;
      if (performance.now() > until) return;
      // Presets are shown only to who logs in.
      if (page === "autotune/presets" && this.#web.locked !== null) continue;
      try {
        this.#seldom.set(page, { at: performance.now(), value: (await this.#web.get(page, signal)).value });
      } catch (error) {
        if (!(error instanceof RigbridgeError)) throw error;
        // What was refused is refused again; what was disturbed is asked for with the next read.
        const final = error.code === "rig.refused" || error.code === "rig.login" || error.code === "rig.garbled";
        if (final) this.#seldom.set(page, { at: performance.now(), value: last?.value ?? null });
      }
    }
  }
}

const isNoWeb = (error: unknown): boolean =>
  error instanceof RigbridgeError && (error.code === "rig.unreachable" || error.code === "rig.garbled");

/** Of each chain the chips that hash; none is counted while none does, for then the rig rests. */
function chipsOf(chains: unknown): Map<number, number> {
  const counts = new Map<number, number>();
  if (!Array.isArray(chains)) return counts;
  for (const chain of new TolerantReader({ chains }, new Notes(), "").list("chains", 16)) {
    const id = chain.integer("id");
    const hashing = chain.list("chips", 1_000).filter((chip) => (chip.number("hr") ?? 0) > 0).length;
    if (id !== null && hashing > 0) counts.set(id, hashing);
  }
  return counts;
}
