import { RigbridgeError } from "../../../contract/problems.ts";
import type { Board, Control, ControlKey, ControlValue, Identity, RigReadings } from "../../../contract/readings.ts";
import { unknownReadings } from "../../../contract/readings.ts";
import { type OfferedControl, setControl } from "../../controls.ts";
import type { Locked, PoolAction, PoolControls, PoolReading, Reading, Rig } from "../../driver.ts";
import { hasLogin, type Link } from "../../link.ts";
import { Notes } from "../../tolerant-reader.ts";

/** What a read of the web interface adds to that of the RPC. */
export interface WebReport {
  /** What it knows of the identity, before what the RPC does. */
  readonly identity: Partial<Identity>;
  readonly offered: readonly OfferedControl[];
  /** In place of those of the RPC; its errors are added, and its fans count where the RPC has none. */
  readonly readings?: Partial<Omit<RigReadings, "notes">>;
  /** It was put to sleep: it computes nothing, and its mining program may well be silent. */
  readonly asleep?: boolean;
  /** The pools of its configuration; null where it cannot change them. */
  readonly pools: WebPools | null;
}

export interface WebPools {
  readonly listed: (running: readonly PoolReading[]) => PoolReading[];
  readonly actions: readonly PoolAction[];
  readonly controls: PoolControls;
  /** s until a change shows. */
  readonly seconds: number;
}

export interface WebInterface {
  /** What a login adds: completes "its user name and password add". */
  readonly adds: string;
  /** Otherwise the RPC alone may take commands. */
  readonly takesCommands: boolean;
  read(signal: AbortSignal, notes: Notes): Promise<WebReport>;
  /** The next read reads everything again. */
  forget(): void;
}

/** Of a read's time, for the web interface. */
const webShare = 0.5;
/** Until a web interface that did not answer is tried again. */
const retryAfterMs = 60_000;
/** How many reads in a row ask a web interface that does not answer which rig this is. */
const promptTries = 3;

/** A rig whose RPC reports its work, and whose web interface, with its login, says which rig it is and takes commands. */
export class RpcAndWebRig implements Rig {
  readonly #link: Link;
  readonly #rpc: Rig;
  readonly #web: WebInterface;
  readonly #hasLogin: boolean;
  /** Of the last read. */
  #report: WebReport | null = null;
  #trouble: RigbridgeError | null = null;
  #retryAt = Number.NEGATIVE_INFINITY;
  /** How many more reads ask again at once which rig this is. */
  #promptTries = 0;
  #uptime: number | null = null;
  /** As the web interface last reported it. */
  #identity: Partial<Identity> = {};
  /** The last report over RPC. */
  #last: Reading | undefined;

  constructor(link: Link, rpc: Rig, web: WebInterface) {
    this.#link = link;
    this.#rpc = rpc;
    this.#web = web;
    this.#hasLogin = hasLogin(link.credentials);
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const answer = await this.#readRpc(signal);
    const reading = "silence" in answer ? answer.instead : answer;
    this.#noticeRestart(reading.readings.uptime);
    const notes = new Notes();
    const { locked: lockedRpc, ...open } = reading;
    const { takesCommands } = this.#web;
    notes.addAll(reading.readings.notes.filter((note) => !takesCommands || note !== lockedRpc?.text));
    if (this.#hasLogin) await this.#readWeb(signal, notes);
    else notes.add(`read without a login; its user name and password add ${this.#web.adds}`);
    const locked = this.#locked() ?? (takesCommands ? undefined : lockedRpc);
    const report = this.#report;
    if (report === null && "silence" in answer) throw answer.silence;
    const readings = { ...readingsOver(reading.readings, report), notes: notes.list() };
    const read = { ...open, readings, ...(locked === undefined ? {} : { locked }) };
    if (report === null) return { ...read, identity: this.#identityOver(reading.identity) };
    const { pools, offered } = report;
    const isOffered = ({ key }: Control): boolean => offered.some(({ control }) => control.key === key);
    return {
      ...read,
      identity: this.#identityOver(reading.identity),
      controls: [...offered.map(({ control }) => control), ...reading.controls.filter((each) => !isOffered(each))],
      ...(pools === null
        ? {}
        : { pools: pools.listed(reading.pools), poolActions: pools.actions, poolSeconds: pools.seconds }),
    };
  }

  async set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    if (this.#report === null && this.#trouble === null && this.#hasLogin) await this.read(signal);
    const offered = this.#report?.offered ?? [];
    if (!offered.some(({ control }) => control.key === key)) return this.#rpc.set(key, value, signal);
    return setControl(offered, key, value, signal).finally(() => this.#web.forget());
  }

  get pools(): PoolControls {
    return this.#report?.pools?.controls ?? this.#rpc.pools;
  }

  doubt(): void {
    this.#rpc.doubt?.();
    this.#forget();
  }

  close(): void {
    this.#rpc.close();
    this.#link.http.close();
  }

  /** While the mining program restarts, its web interface shows its settings, and nothing else is known. */
  async #readRpc(
    signal: AbortSignal,
  ): Promise<Reading | { readonly silence: RigbridgeError; readonly instead: Reading }> {
    try {
      this.#last = await this.#rpc.read(signal);
      return this.#last;
    } catch (error) {
      const last = this.#last;
      if (!(error instanceof RigbridgeError) || signal.aborted || last === undefined) throw error;
      const text = `the mining program does not answer: ${error.unquoted}`;
      const { algorithm } = last.readings;
      const readings = { ...unknownReadings(), algorithm, errors: [{ code: "miner.silent", text }] };
      const nothing = { pools: [], devices: [], controls: [], poolActions: [], workUtility: null, halt: undefined };
      return { silence: error, instead: { ...last, ...nothing, readings } };
    }
  }

  /** A failure costs a note and the controls, not the read. */
  async #readWeb(signal: AbortSignal, notes: Notes): Promise<void> {
    if (this.#link.monotonicNow() >= this.#retryAt) {
      try {
        const timeout = AbortSignal.timeout(this.#link.pace.partMs(webShare));
        this.#report = await this.#web.read(AbortSignal.any([signal, timeout]), notes);
        this.#trouble = null;
        this.#promptTries = 0;
        this.#identity = this.#report.identity;
      } catch (error) {
        if (!(error instanceof RigbridgeError) || signal.aborted) throw error;
        this.#report = null;
        this.#trouble = error;
        // A rig that does not say which one it is takes no command, so that is asked again at once; a refused login is not.
        this.#promptTries = error.code === "rig.login" ? 0 : Math.max(0, this.#promptTries - 1);
        if (this.#promptTries === 0) this.#retryAt = this.#link.monotonicNow() + retryAfterMs;
      }
    }
    if (this.#trouble !== null) notes.add(`its web interface cannot be used now: ${this.#trouble.unquoted}`);
  }

  #forget(): void {
    this.#web.forget();
    this.#identity = {};
    this.#promptTries = promptTries;
    this.#retryAt = Number.NEGATIVE_INFINITY;
  }

  #identityOver(ofRpc: Identity): Identity {
    const known = Object.entries(this.#identity).filter(([, value]) => value !== null);
    return { ...ofRpc, ...Object.fromEntries(known) };
  }

  #locked(): Locked | undefined {
    if (!this.#hasLogin) return { why: "login missing", text: `its user name and password add ${this.#web.adds}` };
    return this.#trouble?.code === "rig.login" ? { why: "login wrong", text: this.#trouble.unquoted } : undefined;
  }

  /** After a restart it may be another rig. */
  #noticeRestart(uptime: number | null): void {
    if (uptime !== null && this.#uptime !== null && uptime < this.#uptime) this.#forget();
    this.#uptime = uptime ?? this.#uptime;
  }
}

function readingsOver(ofRpc: RigReadings, report: WebReport | null): RigReadings {
  const { readings = {}, asleep = false } = report ?? {};
  const errors = ofRpc.errors.filter(({ code }) => !asleep || code !== "miner.silent");
  return {
    ...ofRpc,
    ...readings,
    errors: [...errors, ...(readings.errors ?? [])],
    fans: ofRpc.fans.length > 0 ? ofRpc.fans : (readings.fans ?? []),
    boards: boardsOver(ofRpc.boards, readings.boards ?? []),
    ...(asleep ? { mining: false, hashrate: 0 } : {}),
  };
}

/** Those of the web interface with the present rates of the RPC, which may number the same places otherwise. */
function boardsOver(ofRpc: Board[], ofWeb: Board[]): Board[] {
  if (ofRpc.length === 0) return ofWeb;
  if (ofRpc.length !== ofWeb.length) return ofRpc;
  return ofWeb.map((board, place) => ({ ...board, hashrate: ofRpc[place]?.hashrate ?? board.hashrate }));
}

/** Codes of errors that concern one page. */
const broken: ReadonlySet<string> = new Set(["rig.refused", "rig.garbled"]);

/** null, with a note, where a page of the web interface is missing or broken. */
export async function pageOrNull<T>(what: string, page: Promise<T>, notes: Notes): Promise<T | null> {
  try {
    return await page;
  } catch (error) {
    if (!(error instanceof RigbridgeError) || !broken.has(error.code)) throw error;
    notes.add(`its ${what} cannot be read: ${error.unquoted}`);
    return null;
  }
}
