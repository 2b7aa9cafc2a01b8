import { asicModel } from "../../../catalogue/asic-models.ts";
import { RigbridgeError } from "../../../contract/problems.ts";
import type { ControlKey, ControlValue, Identity } from "../../../contract/readings.ts";
import { unknownReadings } from "../../../contract/readings.ts";
import type { Driver, PoolControls, PoolReading, Reading, Rig, Signs } from "../../driver.ts";
import { normalMac } from "../../identity.ts";
import type { Link } from "../../link.ts";
import { stopped } from "../../reason.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { digestTransport } from "../../transports/digest.ts";
import { type FieldNames, type MinerConfig, poolsOf } from "../antminer/config.ts";
import { nameOf, offers, stored } from "../antminer/controls.ts";
import { listActions, listPools } from "../antminer/pools.ts";
import { poolsOfWeb, type Remarks, remarksOf, sharesOf } from "../antminer/stats.ts";
import { AntminerWeb } from "../antminer/web.ts";
import { bitmainDevice } from "../shared/bitmain-stats.ts";
import { OfferedControls } from "../shared/offered-controls.ts";
import { type Report, reportOf } from "./readings.ts";

/**
 * Elphapex's firmware of its DG series, for Scrypt: the pages of Bitmain's newer firmware with other names in the
 * configuration, behind a digest login. It has no RPC. Its maker's pages that need no login are not used.
 * Source: recorded answers of a DG1+; the requests that write, from programs that others have published. These disagree
 * about the number of its mode for sleep, so stopping it is not offered; `get_power` is mentioned, but its answer nowhere.
 */
export const elphapex: Driver = {
  id: "elphapex",
  name: "Elphapex (DG series)",
  evidence: { readings: "recorded", controls: "other source" },
  ports: [80],
  login: { keys: ["username", "password"], adds: "read, rebooted and located, and its pools and fan changed" },
  makersLogin: { username: "root", password: "root" },
  recognise: (signs) => recognise(signs),
  connect: (link) => new ElphapexRig(link),
};

/** By the realm of its login, or by its page. */
function recognise({ root }: Signs): Partial<Identity> | undefined {
  if (root === null) return undefined;
  const login = root.status === 401 ? (root.headers["www-authenticate"] ?? "") : "";
  const isOurs = /realm="?Daoge/i.test(login) || (root.status < 400 && /\bElphapex\b/i.test(root.body));
  return isOurs ? { make: "Elphapex" } : undefined;
}

const names: FieldNames = {
  fanSwitch: "fc-fan-ctrl",
  fanPercent: "fc-fan-pwm",
  mode: "fc-work-mode",
  level: "fc-freq-level",
  writtenLevel: "fc-freq-level",
  // Others take it for 1, as on an Antminer; a rig in that mode is judged by its hash rate.
  asleep: -1000,
};

/** Of a read's time, for one page. */
const pageShare = 0.5;

class ElphapexRig implements Rig {
  readonly #link: Link;
  readonly #web: AntminerWeb;
  readonly #offered = new OfferedControls();
  readonly pools: PoolControls;
  /** undefined before it was read. */
  #system: TolerantReader | undefined;
  #remarks: Remarks | null = null;
  #blinks: boolean | null = null;
  /** Which page the next read reads beside the others; null: both. */
  #turn: "light" | "faults" | null = null;
  #uptime: number | null = null;
  /** Whether the last statistics listed fans. */
  #hasFans = true;

  constructor(link: Link) {
    this.#link = link;
    const { username, password } = link.credentials;
    // The only user of its firmware.
    const login = username === undefined && password === undefined ? {} : { username: username ?? "root", password };
    this.#web = new AntminerWeb(digestTransport(link.http, login), names);
    this.pools = listPools((to, signal) =>
      this.#web.change((config) => ({ ...config, pools: to(config.pools) }), signal),
    );
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const notes = new Notes();
    const ask = (name: string): Promise<Answer<unknown>> =>
      this.#page(signal, (short) => this.#web.ask(name, short, notes));
    if (this.#system === undefined) this.#introduce(await ask("get_system_info"), notes);
    const config = await this.#page(signal, (short) => this.#web.config(short, notes));
    const stats = await ask("stats");
    if ("error" in stats && "error" in config) throw stats.error;
    if ("error" in config) notes.add(`its configuration cannot be read: ${config.error.unquoted}`);
    const pools = await ask("pools");
    if ("error" in pools) notes.add(`the counters of its pools cannot be read: ${pools.error.unquoted}`);
    await this.#readInTurn(ask, signal, notes);
    const running = "value" in pools ? poolsOfWeb(pools.value, notes) : [];
    return this.#readingOf("value" in config ? config.value : null, stats, running, notes);
  }

  #readingOf(
    config: MinerConfig | null,
    stats: Answer<unknown>,
    running: readonly PoolReading[],
    notes: Notes,
  ): Reading {
    const report = "value" in stats ? reportOf(stats.value, notes) : null;
    if (report !== null && report.readings.boards.length > 0) this.#hasFans = report.readings.fans.length > 0;
    const silence = "error" in stats ? stats.error.unquoted : null;
    const identity = this.#identity(report);
    const sleeps = config?.mode === names.asleep;
    const readings = report?.readings ?? unknownReadings();
    const hashrate = sleeps ? (readings.hashrate ?? 0) : readings.hashrate;
    this.#noticeRestart(readings.uptime);
    return {
      identity,
      readings: {
        ...readings,
        hashrate,
        algorithm:
          asicModel("Elphapex", identity.model)?.algorithm ?? this.#system?.text("Algorithm")?.toLowerCase() ?? null,
        mining: sleeps ? false : hashrate === null ? null : hashrate > 0,
        mode: config === null || config.mode === null ? null : sleeps ? "sleep" : nameOf(config.mode),
        locate: this.#blinks,
        bestShare: this.#remarks?.bestShare || null,
        shares: { ...sharesOf(running), hardwareErrors: null },
        errors: [
          ...(this.#remarks?.errors ?? []),
          ...(silence === null || sleeps
            ? []
            : [{ code: "miner.silent", text: `the mining program does not answer: ${silence}` }]),
        ],
        notes: notes.list(),
      },
      pools: config === null ? [...running] : poolsOf(config, running),
      devices: report?.readings.boards.map((board) => bitmainDevice(board, null)) ?? [],
      controls: this.#offered.offer(
        // Without a mode, so that none is offered.
        offers(this.#web, "new", {
          config: config === null ? null : { ...config, mode: null },
          blinks: this.#blinks,
          hasFans: this.#hasFans,
          awake: 0,
        }),
      ),
      poolActions: config === null ? [] : listActions(config),
      poolSeconds: stored.seconds,
      software: null,
      logInterval: 5,
      workUtility: null,
      ...(sleeps ? { halt: stopped } : {}),
    };
  }

  set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    return this.#offered.set(this, key, value, signal).finally(() => {
      this.#turn = null;
    });
  }

  doubt(): void {
    this.#system = undefined;
  }

  close(): void {
    this.#link.http.close();
  }

  #introduce(system: Answer<unknown>, notes: Notes): void {
    if ("value" in system) this.#system = new TolerantReader(system.value, notes, "system");
    else notes.add(`its identity cannot be read: ${system.error.unquoted}`);
  }

  /** Both with the first read, then one page with each. A failure does not fail the read. */
  async #readInTurn(ask: (name: string) => Promise<Answer<unknown>>, signal: AbortSignal, notes: Notes): Promise<void> {
    const turn = this.#turn;
    this.#turn = turn === "light" ? "faults" : "light";
    if (this.#link.pace.isSlow) return;
    if (turn !== "faults") {
      const blinks = await this.#page(signal, (short) => this.#web.blinks(short, notes));
      this.#blinks = "value" in blinks ? blinks.value : null;
      if ("error" in blinks) notes.add(blinks.error.unquoted);
    }
    if (turn !== "light") {
      const summary = await ask("summary");
      this.#remarks = "value" in summary ? remarksOf(summary.value, notes) : null;
      if ("error" in summary) notes.add(summary.error.unquoted);
    }
  }

  /** One page with its own timeout. Throws what concerns the whole web interface; `signal` ends the read. */
  async #page<T>(signal: AbortSignal, work: (short: AbortSignal) => Promise<T>): Promise<Answer<T>> {
    const timeout = AbortSignal.timeout(this.#link.pace.partMs(pageShare));
    try {
      return { value: await work(AbortSignal.any([signal, timeout])) };
    } catch (error) {
      if (!(error instanceof RigbridgeError) || signal.aborted) throw error;
      if (error.code === "rig.login" || error.code === "rig.unreachable") throw error;
      return { error };
    }
  }

  #identity(report: Report | null): Identity {
    const system = this.#system;
    return {
      make: "Elphapex",
      model: system?.text("minertype") ?? report?.model ?? null,
      firmware: system?.text("system_filesystem_version") ?? null,
      mac: normalMac(system?.text("macaddr") ?? null),
      hostname: system?.text("hostname") ?? null,
      serial: report?.serial ?? null,
    };
  }

  /** After a restart it may be another rig. */
  #noticeRestart(uptime: number | null): void {
    if (uptime !== null && this.#uptime !== null && uptime < this.#uptime) this.#system = undefined;
    this.#uptime = uptime ?? this.#uptime;
  }
}

type Answer<T> = { readonly value: T } | { readonly error: RigbridgeError };
