import { RigbridgeError } from "../../../contract/problems.ts";
import type { ControlKey, ControlValue, Identity } from "../../../contract/readings.ts";
import type { Driver, PoolControls, Question, Reading, Rig, Signs } from "../../driver.ts";
import type { Link } from "../../link.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { NotOnDevice } from "../../transports/http.ts";
import { isRefusal, statusOf } from "../shared/cgminer-replies.ts";
import { Memo } from "../shared/memo.ts";
import { OfferedControls } from "../shared/offered-controls.ts";
import { offers } from "./controls.ts";
import { poolActions, poolControls } from "./pools.ts";
import { type Presets, presetsOf } from "./presets.ts";
import { devicesOf, haltOf, identityOf, isStarting, poolsOf, readingsOf, type Snapshot } from "./readings.ts";
import { identityFrom, readByRpc } from "./rpc.ts";
import { VnishWeb } from "./web.ts";

/**
 * VNish, also sold as AnthillOS: firmware for Antminers with a web API, and part of stock firmware's RPC.
 * Source: its OpenAPI document; the RPC as recorded.
 */
export const vnish: Driver = {
  id: "vnish",
  name: "VNish (AnthillOS, on Antminer)",
  evidence: { readings: "vendor document", controls: "vendor document" },
  ports: [80, 4028],
  login: { keys: ["password"], adds: "controlled" },
  makersLogin: { username: "", password: "admin" },
  recognise: (signs) => recognise(signs),
  connect: (link) => new VnishRig(link),
};

/** Since 1.3 it refuses `version`; then `stats` is requested. */
function recognise({ root, version, reports }: Signs): Partial<Identity> | Question | undefined {
  if (root !== null && /AnthillOS/i.test(root.body)) return { make: "VNish", ...identityFrom(version, "VERSION") };
  const known = identityFrom(version, "VERSION");
  if (known !== undefined) return known;
  const status = statusOf(version);
  if (status === null || !isRefusal(status)) return undefined;
  return Object.hasOwn(reports, "stats") ? identityFrom(reports.stats, "STATS") : { command: "stats" };
}

/** For presets, which change with its tuning, its chips, and pages that it did not give. */
const refreshAfterMs = 300_000;
/** Of a read's time, for pages beside the readings; the remaining ones are read next time. */
const seldomShare = 0.3;

const seldomPages = ["info", "autotune/presets", "model", "chains/factory-info", "chains"] as const;
type SeldomPage = (typeof seldomPages)[number];
/** What the rig is, which does not change while it runs. */
const lasting: ReadonlySet<SeldomPage> = new Set(["info", "model", "chains/factory-info"]);

const isKnown = ({ value }: Memo<unknown>): boolean => value !== undefined && value !== null;

class VnishRig implements Rig {
  readonly #link: Link;
  readonly #web: VnishWeb;
  readonly pools: PoolControls;
  /** Raw pages; null for pages that the rig lacks. */
  readonly #seldom = new Map<SeldomPage, Memo<unknown>>(seldomPages.map((page) => [page, new Memo(refreshAfterMs)]));
  /** Whether its web API was ever read. */
  #hasWeb = false;
  #lastLimit: number | null = null;
  #autoTarget: number | null = null;
  readonly #offered = new OfferedControls();

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
    await this.#readSeldom(signal);
    const snapshot = this.#snapshot(summary.object("miner"), status, notes);
    const presets = this.#presets(performance, notes);
    return this.#reading(snapshot, presets, notes);
  }

  async set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    await this.#offered.list(this, signal);
    await this.#web.unlock(signal);
    if ((await this.#offered.list(this, signal)).length === 0) await this.read(signal);
    return this.#offered.set(this, key, value, signal);
  }

  doubt(): void {
    this.#seldom.get("info")?.forget();
    this.#seldom.get("autotune/presets")?.forget();
  }

  close(): void {
    this.#link.http.close();
    this.#link.rpc.close();
  }

  async #readByRpc(webError: unknown, signal: AbortSignal): Promise<Reading> {
    try {
      const reading = await readByRpc(this.#link.rpc, signal);
      this.#offered.offer([]);
      return reading;
    } catch (error) {
      // RPC does not answer either, so the web API's error counts.
      throw error instanceof RigbridgeError ? webError : error;
    }
  }

  #reading(snapshot: Snapshot, presets: Presets, notes: Notes): Reading {
    const readings = readingsOf(snapshot, presets);
    const { locked } = this.#web;
    const mode = snapshot.miner.object("cooling").object("settings").object("mode");
    if (mode.text("name") === "auto") this.#autoTarget = mode.number("param", { absent: 0 }) ?? this.#autoTarget;
    const offered =
      locked === null
        ? offers(this.#web, {
            snapshot,
            presets,
            lastLimit: this.#lastLimit,
            keepLimit: (watts) => {
              this.#lastLimit = watts;
            },
            autoTarget: this.#autoTarget,
          })
        : [];
    if (locked !== null) notes.add(locked.text);
    if (snapshot.status.boolean("restart_required") === true)
      notes.add("changed settings take effect when mining restarts");
    if (snapshot.status.boolean("reboot_required") === true) notes.add("changed settings take effect after a reboot");
    if (presets.switches) notes.add("its preset switcher selects presets automatically");
    return {
      identity: identityOf(snapshot),
      readings: { ...readings, notes: notes.list() },
      pools: poolsOf(snapshot),
      devices: devicesOf(snapshot, readings.boards),
      controls: this.#offered.offer(offered),
      poolActions: locked === null ? poolActions : [],
      starting: isStarting(snapshot),
      halt: haltOf(snapshot),
      software: null,
      logInterval: null,
      workUtility: null,
      ...(locked === null ? {} : { locked }),
    };
  }

  #snapshot(miner: TolerantReader, status: TolerantReader, notes: Notes): Snapshot {
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
    notes.addAll(reply.notes);
    return reply.value;
  }

  /** A page that older firmware lacks becomes a note. */
  async #optional(page: string, signal: AbortSignal, notes: Notes): Promise<unknown> {
    try {
      return await this.#get(page, signal, notes);
    } catch (error) {
      if (!(error instanceof RigbridgeError) || error.code === "rig.timeout") throw error;
      notes.add(`its "${page}" could not be read`);
      return undefined;
    }
  }

  #isDue(page: SeldomPage, memo: Memo<unknown>): boolean {
    return lasting.has(page) && isKnown(memo) ? memo.at < this.#link.firmware.doubtedAt : !memo.isFresh;
  }

  /** A failure does not fail the read. */
  async #readSeldom(signal: AbortSignal): Promise<void> {
    const until = performance.now() + this.#link.pace.partMs(seldomShare);
    for (const [page, memo] of this.#seldom) {
      if (!this.#isDue(page, memo)) continue;
      if (!isKnown(memo) && this.#link.firmware.has(page) === false) continue;
      if (performance.now() > until) return;
      // Presets require the login.
      if (page === "autotune/presets" && this.#web.locked !== null) continue;
      try {
        memo.keep((await this.#web.get(page, signal)).value);
      } catch (error) {
        if (!(error instanceof RigbridgeError)) throw error;
        if (error instanceof NotOnDevice) this.#link.firmware.keep(page, false);
        // A refusal is final; after any other error the next read tries again.
        const final = error.code === "rig.refused" || error.code === "rig.login" || error.code === "rig.garbled";
        if (final) memo.keep(memo.value ?? null);
      }
    }
  }
}

const isNoWeb = (error: unknown): boolean =>
  error instanceof RigbridgeError && (error.code === "rig.unreachable" || error.code === "rig.garbled");

/** How many chips of each chain hash; no entry while none does, since then the rig is idle. */
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
