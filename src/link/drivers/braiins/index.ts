import { RigbridgeError } from "../../../contract/problems.ts";
import type { ControlKey, ControlValue, Identity } from "../../../contract/readings.ts";
import { isRecord } from "../../../contract/record.ts";
import { type OfferedControl, toggle } from "../../controls.ts";
import type { Driver, Locked, PoolAction, PoolControls, Reading, Rig, Signs } from "../../driver.ts";
import type { Link } from "../../link.ts";
import { Notes } from "../../tolerant-reader.ts";
import { parseStrict } from "../../transports/json.ts";
import { Access } from "../shared/access.ts";
import { Memo } from "../shared/memo.ts";
import { OfferedControls } from "../shared/offered-controls.ts";
import { type Answer, BraiinsGraphql } from "./graphql.ts";
import { legacyControls, mutations } from "./graphql-controls.ts";
import { legacySettings, legacySnapshot, settingsQuery, statusQuery } from "./graphql-readings.ts";
import { BraiinsRest, root } from "./rest.ts";
import { restControls } from "./rest-controls.ts";
import { PageBook } from "./rest-pages.ts";
import { restPools } from "./rest-pools.ts";
import { restSnapshot } from "./rest-readings.ts";
import { askReports, command, rpcSnapshot, softwareOf } from "./rpc.ts";
import { absent, allowedPoolActions, rpcCommands, rpcPools } from "./rpc-controls.ts";
import { devicesOf, emptySnapshot, merged, type Snapshot } from "./snapshot.ts";

/**
 * Braiins OS on ASICs. Without a login it is read over RPC (4028) and can be paused; with one the REST API (25.07 and
 * later) or the GraphQL of the web interface (before) is used. Its gRPC API (50051) reports nothing more.
 * Source: Braiins' OpenAPI 1.7, "BOSminer API" and configuration guide; GraphQL as its own web interface uses it.
 */
export const braiins: Driver = {
  id: "braiins",
  name: "Braiins OS",
  ports: [80, 4028],
  login: { keys: ["password"], adds: "read in full and controlled" },
  makersLogin: { username: "root", password: "" },
  evidence: { readings: "recorded", controls: "vendor document" },
  recognise: (signs) => recognise(signs),
  connect: (link) => new BraiinsRig(link),
};

function recognise({ root: page, version }: Signs): Partial<Identity> | undefined {
  const software = softwareOf(version);
  if (software !== null) return { make: "Braiins", firmware: software };
  if (page === null) return undefined;
  const shown = /braiins ?os/i.test(page.body) || /cgi-bin\/luci\/admin\/[\s\S]*\bbos/i.test(page.body);
  return shown ? { make: "Braiins" } : undefined;
}

/** What one interface of the rig brings. */
interface View {
  readonly snapshot: Snapshot;
  readonly offered: readonly OfferedControl[];
  readonly poolActions: readonly PoolAction[];
  readonly pools: PoolControls;
}

const restPoolActions = ["add", "switch", "enable", "disable", "remove", "prioritize"] as const;
/** Controls that need a login on either generation. */
const afterLogin = new Set<string>(["restart", "reboot", "locate", "power_limit", "fan", "temperature_target"]);
/** Until a web interface that did not answer is tried again, and settings are read again. */
const refreshAfterMs = 60_000;
/** Of a read's time, for values that are queried only once. */
const onceShare = 0.3;

class BraiinsRig implements Rig {
  readonly #link: Link;
  readonly #rest: BraiinsRest;
  readonly #graphql: BraiinsGraphql;
  readonly #book: PageBook;
  readonly #access: Access;
  /** The interface for the login; null while the web does not answer. */
  readonly #web = new Memo<"rest" | "graphql" | null>(refreshAfterMs);
  #software: string | undefined;
  #mac: string | null = null;
  readonly #settings = new Memo<Answer | null>(refreshAfterMs);
  /** When a control was last set: settings are read each time until the change shows. */
  #changedAt = Number.NEGATIVE_INFINITY;
  #view: View | undefined;
  readonly #offered = new OfferedControls();
  #loginTrouble: RigbridgeError | null = null;

  constructor(link: Link) {
    this.#link = link;
    this.#access = new Access(link.firmware, () => performance.now());
    this.#rest = new BraiinsRest(link.http, link.credentials);
    this.#graphql = new BraiinsGraphql(link.http, link.credentials);
    this.#book = new PageBook(this.#rest, link.firmware);
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const notes = new Notes();
    this.#loginTrouble = this.#hasLogin ? null : this.#loginMissing();
    const view = await this.#readView(signal, notes);
    this.#view = view;
    const locked = this.#locked;
    if (locked !== null) notes.add(locked.text);
    const { snapshot } = view;
    return {
      identity: snapshot.identity,
      readings: { ...snapshot.readings, notes: notes.list() },
      pools: snapshot.pools,
      devices: devicesOf(snapshot),
      controls: this.#offered.offer(view.offered),
      poolActions: view.poolActions,
      software: null,
      logInterval: snapshot.logInterval,
      starting: snapshot.starting,
      halt: snapshot.halt,
      workUtility: null,
      ...(locked === null ? {} : { locked }),
    };
  }

  async set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    const offered = await this.#offered.has(this, key, signal);
    const closed = !offered && (afterLogin.has(key) || key.startsWith("board_"));
    if (closed && this.#loginTrouble !== null) throw this.#loginTrouble;
    this.#changedAt = performance.now();
    return this.#offered.set(this, key, value, signal);
  }

  get pools(): PoolControls {
    return {
      add: (login, signal) => this.#now.add?.(login, signal) ?? Promise.reject(absent("add")),
      switch: (pool, signal) => this.#now.switch?.(pool, signal) ?? Promise.reject(absent("switch")),
      enable: (pool, signal) => this.#now.enable?.(pool, signal) ?? Promise.reject(absent("enable")),
      disable: (pool, signal) => this.#now.disable?.(pool, signal) ?? Promise.reject(absent("disable")),
      remove: (pool, signal) => this.#now.remove?.(pool, signal) ?? Promise.reject(absent("remove")),
      prioritize: (pool, signal) => this.#now.prioritize?.(pool, signal) ?? Promise.reject(absent("prioritize")),
    };
  }

  doubt(): void {
    this.#web.forget();
    this.#software = undefined;
    this.#mac = null;
    this.#settings.forget();
    this.#book.doubt();
  }

  close(): void {
    this.#link.http.close();
    this.#link.rpc.close();
  }

  get #hasLogin(): boolean {
    const { username, password } = this.#link.credentials;
    return username !== undefined || password !== undefined;
  }

  get #locked(): Locked | null {
    if (this.#loginTrouble === null) return null;
    return this.#hasLogin
      ? { why: "login wrong", text: this.#loginTrouble.unquoted }
      : { why: "login missing", text: withoutLogin };
  }

  get #now(): PoolControls {
    return this.#view?.pools ?? {};
  }

  #loginMissing(): RigbridgeError {
    return new RigbridgeError(
      "rig.login",
      `${this.#link.http.at} requires its password for that, and none is configured`,
    );
  }

  async #readView(signal: AbortSignal, notes: Notes): Promise<View> {
    const kind = this.#hasLogin ? await this.#webKind(signal) : null;
    if (kind === "graphql") return this.#legacyView(signal, notes);
    if (kind === null) return this.#rpcView(signal, notes);
    try {
      return await this.#restView(signal, notes);
    } catch (error) {
      return this.#withoutWeb(error, signal, notes);
    }
  }

  /** RPC answers without a login; if it does not either, the web interface's error counts. */
  async #withoutWeb(error: unknown, signal: AbortSignal, notes: Notes): Promise<View> {
    if (!(error instanceof RigbridgeError) || signal.aborted) throw error;
    const view = await this.#rpcView(signal, notes).catch((rpcError: unknown) => {
      throw rpcError instanceof RigbridgeError ? error : rpcError;
    });
    this.#noteTrouble(error, notes);
    return view;
  }

  #noteTrouble(error: RigbridgeError, notes: Notes): void {
    if (error.code === "rig.login") this.#loginTrouble = error;
    else notes.add("its web interface did not answer, so only RPC was read");
  }

  /** Recognised without the login, by the page of the API's version. */
  async #webKind(signal: AbortSignal): Promise<"rest" | "graphql" | null> {
    const { isFresh, value } = this.#web;
    if (value !== undefined && (value !== null || isFresh)) return value;
    return this.#web.keep(await this.#askWebKind(signal));
  }

  async #askWebKind(signal: AbortSignal): Promise<"rest" | "graphql" | null> {
    try {
      for (const path of [`${root}/version/`, `${root}/version`]) if (await this.#isRest(path, signal)) return "rest";
      return "graphql";
    } catch (error) {
      if (!(error instanceof RigbridgeError) || signal.aborted) throw error;
      return null;
    }
  }

  /** Older web interfaces answer any path with one of their own pages. */
  async #isRest(path: string, signal: AbortSignal): Promise<boolean> {
    const { status, body } = await this.#link.http.call({ method: "GET", path }, signal);
    if (status === 401 || status === 403) return true;
    const parsed = parseStrict(body);
    return status < 300 && "value" in parsed && isRecord(parsed.value) && "major" in parsed.value;
  }

  async #restView(signal: AbortSignal, notes: Notes): Promise<View> {
    const pages = await this.#book.read(signal, notes);
    return {
      snapshot: restSnapshot(pages, notes),
      offered: restControls(this.#rest, pages, (paths, seconds) => this.#book.await(paths, seconds)),
      poolActions: pages.has("pools/") ? restPoolActions : [],
      pools: restPools(this.#rest, () => this.#book.await(["pools/", "configuration/miner"], 45)),
    };
  }

  async #rpcView(signal: AbortSignal, notes: Notes): Promise<View> {
    return this.#rpcOnly(await this.#readRpc(signal, notes));
  }

  #rpcOnly(snapshot: Snapshot): View {
    return {
      snapshot,
      offered: this.#access.allows("pause") && this.#access.allows("resume") ? [this.#rpcMining(snapshot)] : [],
      poolActions: allowedPoolActions(this.#access),
      pools: rpcPools(this.#link.rpc),
    };
  }

  async #readRpc(signal: AbortSignal, notes: Notes): Promise<Snapshot> {
    const { rpc } = this.#link;
    this.#software ??= await this.#askSoftware(signal);
    const snapshot = rpcSnapshot(await askReports(rpc, signal, notes), notes);
    await this.#access.refresh(rpc, rpcCommands, performance.now() + this.#link.pace.partMs(onceShare), signal);
    return merged(snapshot, { ...emptySnapshot, identity: { ...emptySnapshot.identity, firmware: this.#software } });
  }

  async #askSoftware(signal: AbortSignal): Promise<string> {
    const { value } = await this.#link.rpc.send("version", undefined, signal);
    const software = softwareOf(value);
    if (software === null) throw new RigbridgeError("rig.garbled", `${this.#link.rpc.at} is not Braiins OS`);
    return software;
  }

  /**
   * RPC pauses and resumes: boards without power, fans off. Where it cannot, and where BOSminer does not run, the web
   * interface stops and starts BOSminer.
   */
  async #legacyView(signal: AbortSignal, notes: Notes): Promise<View> {
    const rpc = await settled(this.#readRpc(signal, notes), signal);
    const web = await settled(this.#askGraphql(signal, notes), signal);
    if (web instanceof RigbridgeError) {
      if (rpc instanceof RigbridgeError) throw web.code === "rig.login" ? web : rpc;
      this.#noteTrouble(web, notes);
      return this.#rpcOnly(rpc);
    }
    const { status, settings } = web;
    if (rpc instanceof RigbridgeError) notes.add("RPC did not answer: its miner is stopped, or RPC is switched off");
    const overWeb = legacySnapshot(status, settings, notes);
    const both = rpc instanceof RigbridgeError ? overWeb : merged(rpc, overWeb);
    // The system's version is preferred to the miner's; the MAC is on its own page.
    const identity = {
      ...both.identity,
      firmware: overWeb.identity.firmware ?? both.identity.firmware,
      mac: this.#mac,
    };
    const snapshot = { ...both, identity };
    const running = !(rpc instanceof RigbridgeError);
    return {
      snapshot,
      offered: [
        this.#legacyMining(snapshot, running),
        ...legacyControls(this.#graphql, legacySettings(status, settings, notes), { locate: overWeb.readings.locate }),
      ],
      poolActions: running ? allowedPoolActions(this.#access) : [],
      pools: rpcPools(this.#link.rpc),
    };
  }

  async #askGraphql(signal: AbortSignal, notes: Notes): Promise<{ status: Answer; settings: Answer | null }> {
    const status = await this.#graphql.ask(statusQuery, signal);
    for (const complaint of status.complaints) notes.add(`its web interface reports: ${complaint}`);
    const { isFresh, value: known } = this.#settings;
    const isChanging = performance.now() - this.#changedAt < refreshAfterMs * 2;
    if (known !== undefined && isFresh && !isChanging) return { status, settings: known };
    const settings = await settled(this.#graphql.ask(settingsQuery, signal), signal);
    if (known === undefined) {
      const mac = await settled(this.#graphql.mac(signal), signal);
      this.#mac = mac instanceof RigbridgeError ? null : mac;
    }
    return { status, settings: this.#settings.keep(settings instanceof RigbridgeError ? null : settings) };
  }

  #rpcMining({ wanted }: Snapshot): OfferedControl {
    return {
      control: toggle("mining", wanted, { lasting: false, restartsMining: false, seconds: 60 }),
      set: (on, signal) => command(this.#link.rpc, on === true ? "resume" : "pause", undefined, signal),
    };
  }

  #legacyMining(snapshot: Snapshot, running: boolean): OfferedControl {
    const pausing = this.#access.allows("pause") && this.#access.allows("resume");
    if (running && pausing) return this.#rpcMining(snapshot);
    return {
      control: toggle("mining", snapshot.wanted, { lasting: false, restartsMining: true, seconds: 120 }),
      set: (on, signal) =>
        on === true
          ? this.#graphql.mutate("start", mutations.start, {}, signal)
          : this.#graphql.mutate("stop", mutations.stop, {}, signal),
    };
  }
}

const withoutLogin = "without the password of its web interface it can only be read, paused and resumed";

/** The error instead of throwing it, unless the read is out of time. */
async function settled<T>(work: Promise<T>, signal: AbortSignal): Promise<T | RigbridgeError> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof RigbridgeError && !signal.aborted) return error;
    throw error;
  }
}
