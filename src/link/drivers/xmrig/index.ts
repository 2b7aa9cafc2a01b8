import { RigbridgeError } from "../../../contract/problems.ts";
import type { ControlKey, ControlValue, Identity, RigReadings } from "../../../contract/readings.ts";
import { unknownReadings } from "../../../contract/readings.ts";
import { isRecord } from "../../../contract/record.ts";
import { type OfferedControl, toggle } from "../../controls.ts";
import type {
  DeviceReading,
  Driver,
  Halt,
  PoolAction,
  PoolControls,
  Question,
  Reading,
  Rig,
  Signs,
} from "../../driver.ts";
import { unknownIdentity } from "../../identity.ts";
import type { Link } from "../../link.ts";
import { noPoolAnswers, stopped } from "../../reason.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { type HttpCall, type HttpReply, jsonOf, refusal } from "../../transports/http.ts";
import { parseReply, parseStrict } from "../../transports/json.ts";
import { refusedWith } from "../../transports/limits.ts";
import type { DeviceReply } from "../../transports/rpc.ts";
import { readingsOfCards } from "../shared/gpu-device.ts";
import { Memo } from "../shared/memo.ts";
import { OfferedControls } from "../shared/offered-controls.ts";
import { devicesOf, hasGraphics } from "./backends.ts";
import { activeOnly, type Config, edit, poolsOf } from "./pools.ts";

/**
 * XMRig's HTTP API. It has no usual port. Controlling it requires --http-no-restricted, and that an access token.
 * Source: XMRig 6.26. Its RPC `stop` is never sent: nothing in the API could start it again.
 */
export const xmrig: Driver = {
  id: "xmrig",
  name: "XMRig",
  evidence: { readings: "ran", controls: "ran" },
  ports: [],
  recognise: (signs) => recognise(signs),
  connect: (link) => new XmrigRig(link),
};

const summaryPath = "/2/summary";

/** XMRig has no page at /; only to servers without one is the address's token sent. */
function recognise({ root, pages }: Signs): Partial<Identity> | Question | undefined {
  if (root === null || root.status < 400) return undefined;
  if (!Object.hasOwn(pages, summaryPath)) return { page: summaryPath, withToken: true };
  const answer = pages[summaryPath];
  if (answer === null || answer === undefined) return undefined;
  if (answer.status === 401 || answer.status === 403) {
    return isXmrigError(answer.status, answer.body) ? { make: "XMRig" } : undefined;
  }
  const parsed = parseReply(answer.body);
  if ("problem" in parsed) return undefined;
  const summary = new TolerantReader(parsed.value, new Notes(), "");
  // xmrig-proxy has the same API and mines nothing.
  return summary.has("hashrate") && summary.text("kind") !== "proxy" ? identityOf(summary) : undefined;
}

function isXmrigError(status: number, body: string): boolean {
  const parsed = parseStrict(body);
  if ("problem" in parsed || !isRecord(parsed.value)) return false;
  return parsed.value.status === status && typeof parsed.value.error === "string";
}

/** A processor's backend adds nothing to the summary, and pools change only by hand. */
const refreshAfterMs = 60_000;
/**
 * After a change the configuration read may still be the old one. XMRig answers at once, applies the new one half a
 * second later, and may be busy for some seconds restarting its threads.
 */
const settleMs = 10_000;

class XmrigRig implements Rig {
  readonly quick = true;
  readonly #link: Link;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #backends: Memo<unknown>;
  readonly #config: Memo<{ readonly value: unknown; readonly allowed: boolean }>;
  /** When the last change is certainly applied, by the monotonic clock: a configuration read before is not kept. */
  #settledAt = Number.NEGATIVE_INFINITY;
  readonly #offered = new OfferedControls();

  constructor(link: Link) {
    this.#link = link;
    this.#backends = new Memo(refreshAfterMs, link.monotonicNow);
    this.#config = new Memo(refreshAfterMs, link.monotonicNow);
    const { token } = link.credentials;
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const notes = new Notes();
    const summary = new TolerantReader(await this.#get(summaryPath, signal, notes), notes, "");
    const backends = await this.#readBackends(signal, notes);
    const isOpen = summary.boolean("restricted") === false && (await this.#readConfig(signal, notes));
    if (!isOpen) notes.add(restrictedNote);
    const offered = isOpen ? [this.#miningControl(summary)] : [];
    const connection = summary.object("connection");
    const configured = isOpen ? poolsOf(this.#config.value?.value, connection, notes) : [];
    const pools = configured.length > 0 ? configured : activeOnly(connection);
    const devices = devicesOf(backends, summary, notes);
    return {
      identity: identityOf(summary),
      readings: { ...readingsOf(summary, devices), notes: notes.list() },
      pools,
      devices,
      controls: this.#offered.offer(offered),
      poolActions: isOpen ? poolActions : [],
      ...(isOpen ? {} : { locked: { why: "read-only", text: restrictedNote } }),
      halt: haltOf(summary),
      software: "XmrigMiner",
      logInterval: 10,
      workUtility: null,
    };
  }

  set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    return this.#offered.set(this, key, value, signal);
  }

  /** XMRig uses the first enabled pool that answers; each change writes the whole configuration. */
  get pools(): PoolControls {
    return {
      add: (login, signal) => this.#change((config) => edit.add(config, login), signal),
      switch: (pool, signal) => this.#change((config) => edit.first(config, pool), signal),
      prioritize: (pool, signal) => this.#change((config) => edit.first(config, pool), signal),
      enable: (pool, signal) => this.#change((config) => edit.enabled(config, pool, true), signal),
      disable: (pool, signal) => this.#change((config) => edit.enabled(config, pool, false), signal),
      remove: (pool, signal) => this.#change((config) => edit.remove(config, pool), signal),
    };
  }

  close(): void {
    this.#link.http.close();
  }

  #miningControl(summary: TolerantReader): OfferedControl {
    const paused = summary.boolean("paused");
    return {
      control: toggle("mining", paused === null ? null : !paused, {
        lasting: false,
        restartsMining: false,
        seconds: 5,
      }),
      set: (on, signal) => this.#rpc(on === true ? "resume" : "pause", signal),
    };
  }

  async #rpc(method: "pause" | "resume", signal: AbortSignal): Promise<string> {
    const body = { jsonrpc: "2.0", id: 1, method };
    const reply = await this.#send({ method: "POST", path: "/json_rpc", body }, signal);
    const parsed = parseReply(reply.body);
    const answer = new TolerantReader("value" in parsed ? parsed.value : undefined, new Notes(), "");
    const status = answer.object("result").text("status");
    if (status === null) {
      const reason = answer.object("error").text("message") ?? "no result";
      throw refusedWith("rig.refused", `${this.#link.http.at} refused "${method}"`, reason);
    }
    return status;
  }

  async #change(change: (config: Config) => Config, signal: AbortSignal): Promise<string> {
    const config = await this.#strictConfig(signal);
    const body = change(config);
    this.#config.forget();
    try {
      await this.#send({ method: "PUT", path: "/2/config", body }, signal);
    } finally {
      this.#settledAt = this.#link.monotonicNow() + settleMs;
    }
    return "XMRig accepted the configuration";
  }

  /** Read just before a change, without repairs, which must not be written back. */
  async #strictConfig(signal: AbortSignal): Promise<Config> {
    const { body } = await this.#send({ method: "GET", path: "/2/config" }, signal);
    const parsed = parseStrict(body);
    if ("problem" in parsed || !isRecord(parsed.value)) {
      throw new RigbridgeError("rig.garbled", `${this.#link.http.at}: its configuration could not be read`);
    }
    return parsed.value;
  }

  /** The backend of a processor is read now and then, that of a card each time, since it has the temperature. */
  async #readBackends(signal: AbortSignal, notes: Notes): Promise<unknown> {
    const { isFresh, value } = this.#backends;
    if (isFresh && !hasGraphics(value)) return value;
    try {
      return this.#backends.keep(await this.#get("/2/backends", signal, notes));
    } catch (error) {
      return missed(error, "its backends could not be read", notes);
    }
  }

  /** Whether the configuration may be read, and with that everything be changed. */
  async #readConfig(signal: AbortSignal, notes: Notes): Promise<boolean> {
    if (!this.#config.isFresh || this.#config.at < this.#settledAt) {
      try {
        this.#config.keep({ value: await this.#get("/2/config", signal, notes), allowed: true });
      } catch (error) {
        missed(error, "its configuration could not be read", notes);
        const refused = error instanceof RigbridgeError && (error.code === "rig.refused" || error.code === "rig.login");
        if (refused) this.#config.keep({ value: null, allowed: false });
        return !refused;
      }
    }
    return this.#config.value?.allowed === true;
  }

  /** While it applies a new configuration XMRig may answer half a document, so a garbled read is repeated once. */
  async #get(path: string, signal: AbortSignal, notes: Notes): Promise<unknown> {
    const call = { method: "GET", path } as const;
    const { at } = this.#link.http;
    const once = async (): Promise<DeviceReply> => jsonOf(at, call, await this.#send(call, signal));
    const reply = await once().catch((error: unknown) => {
      if (error instanceof RigbridgeError && error.code === "rig.garbled") return once();
      throw error;
    });
    notes.addAll(reply.notes);
    return reply.value;
  }

  async #send(call: HttpCall, signal: AbortSignal): Promise<HttpReply> {
    const { http, credentials } = this.#link;
    const reply = await http.call({ ...call, headers: this.#headers }, signal);
    const mistake = tokenMistake(reply.status, credentials.token !== undefined);
    // The summary needs only the token; everything else may be forbidden despite it.
    const code = reply.status === 401 || call.path === summaryPath ? "rig.login" : "rig.refused";
    if (mistake !== null) throw new RigbridgeError(code, `${http.at} refused ${call.path}: ${mistake}`);
    if (reply.status >= 300) throw refusal(http.at, call, reply);
    return reply;
  }
}

/**
 * XMRig answers 401 without a token (and always when it has none to compare), 403 to a wrong one or when restricted.
 */
function tokenMistake(status: number, given: boolean): string | null {
  if (status === 401) {
    return given
      ? "XMRig has no access token to compare with; start it with --http-access-token"
      : "XMRig requires its access token (--http-access-token), and none is configured";
  }
  return status === 403 ? "the access token is wrong, or XMRig is restricted (--http-no-restricted)" : null;
}

/** A missing part becomes a note. */
function missed(error: unknown, note: string, notes: Notes): null {
  if (!(error instanceof RigbridgeError)) throw error;
  notes.add(note);
  return null;
}

function haltOf(summary: TolerantReader): Halt | undefined {
  if (summary.boolean("paused") === true) return stopped;
  // The uptime of its pool connection; 0 without one.
  return summary.object("connection").number("uptime") === 0 ? noPoolAnswers : undefined;
}

const restrictedNote =
  "this XMRig can only be read; to control it, start it with --http-no-restricted and --http-access-token";

const poolActions: readonly PoolAction[] = ["add", "switch", "enable", "disable", "remove", "prioritize"];

function identityOf(summary: TolerantReader): Identity {
  const version = summary.text("version");
  const id = summary.text("id");
  return {
    ...unknownIdentity,
    make: "XMRig",
    model: summary.object("cpu").text("brand"),
    firmware: version === null ? null : `XMRig ${version}`,
    // The host's name unless --api-worker-id is set.
    hostname: summary.text("worker_id"),
    // Derived from the MAC unless it was chosen; a chosen one may not be unique.
    serial: id !== null && /^[0-9a-f]{16}$/.test(id) ? id : null,
  };
}

function readingsOf(summary: TolerantReader, devices: readonly DeviceReading[]): RigReadings {
  const rates = summary.object("hashrate").numbers("total");
  const [now, minute, quarter] = rates;
  const results = summary.object("results");
  const good = results.integer("shares_good");
  const total = results.integer("shares_total");
  const paused = summary.boolean("paused");
  const hashrate = now ?? minute ?? (paused === true ? 0 : null);
  return {
    ...unknownReadings(),
    hashrate,
    hashrateAverage: quarter ?? minute ?? null,
    algorithm: summary.text("algo"),
    ...readingsOfCards(devices),
    // That of a processor is not known.
    ...(devices.some(({ kind }) => kind === "cpu") ? { power: null, powerSource: null } : {}),
    uptime: summary.number("uptime"),
    mining: paused === null ? (hashrate === null ? null : hashrate > 0) : !paused,
    bestShare: results.numbers("best", { absent: 0 })[0] ?? null,
    shares: {
      accepted: good,
      rejected: good === null || total === null ? null : Math.max(total - good, 0),
      hardwareErrors: null,
    },
  };
}
