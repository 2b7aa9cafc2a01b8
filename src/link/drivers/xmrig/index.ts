import { RigbridgeError } from "../../../contract/problems.ts";
import type { ControlKey, ControlValue, Identity, RigReadings } from "../../../contract/readings.ts";
import { unknownReadings } from "../../../contract/readings.ts";
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
import { isRecord, Notes, TolerantReader } from "../../tolerant-reader.ts";
import { type HttpCall, type HttpReply, jsonOf, refusal } from "../../transports/http.ts";
import { parseReply, parseStrict } from "../../transports/json.ts";
import { refusedWith } from "../../transports/limits.ts";
import type { DeviceReply } from "../../transports/rpc.ts";
import { highest } from "../shared/figures.ts";
import { Memo } from "../shared/memo.ts";
import { OfferedControls } from "../shared/offered-controls.ts";
import { devicesOf, hasGraphics } from "./backends.ts";
import { activeOnly, type Config, edit, poolsOf } from "./pools.ts";

/**
 * XMRig's HTTP API. It has no usual port. Steering needs --http-no-restricted, and that an access token.
 * Source: XMRig 6.26. Its RPC `stop` is never sent: nothing in the API starts it again.
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

/** There is no page at /; where something else has none either, the owner's token for this address is asked with. */
function recognise({ root, asked }: Signs): Partial<Identity> | Question | undefined {
  if (root === null || root.status < 400) return undefined;
  if (!Object.hasOwn(asked, summaryPath)) return { ask: summaryPath, withToken: true };
  const answer = asked[summaryPath];
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
 * ms after a change within which a configuration that was read may still be the old one. XMRig answers at once, takes
 * the new one up half a second later, and may be busy for some seconds with starting its threads anew.
 */
const settleMs = 10_000;

class XmrigRig implements Rig {
  readonly quick = true;
  readonly #link: Link;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #backends: Memo<unknown>;
  readonly #config: Memo<{ readonly value: unknown; readonly allowed: boolean }>;
  /** When a change of the configuration is surely taken up, by the monotonic clock: what was read before is not kept. */
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
    const steerable = summary.boolean("restricted") === false && (await this.#readConfig(signal, notes));
    if (!steerable) notes.add(restrictedNote);
    const offered = steerable ? [this.#miningSwitch(summary)] : [];
    const connection = summary.object("connection");
    const configured = steerable ? poolsOf(this.#config.value?.value, connection, notes) : [];
    const pools = configured.length > 0 ? configured : activeOnly(connection);
    const devices = devicesOf(backends, summary, notes);
    return {
      identity: identityOf(summary),
      readings: { ...readingsOf(summary, devices), notes: notes.list() },
      pools,
      devices,
      controls: this.#offered.offer(offered),
      poolActions: steerable ? poolActions : [],
      ...(steerable ? {} : { locked: { why: "read-only", text: restrictedNote } }),
      halt: haltOf(summary),
      software: "XmrigMiner",
      logInterval: 10,
      workUtility: null,
    };
  }

  set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    return this.#offered.set(this, key, value, signal);
  }

  /** XMRig uses the first pool of its list that is enabled and answers; every change is one of the whole config. */
  readonly pools: PoolControls = {
    add: (login, signal) => this.#change((config) => edit.add(config, login), signal),
    switch: (pool, signal) => this.#change((config) => edit.first(config, pool), signal),
    prioritize: (pool, signal) => this.#change((config) => edit.first(config, pool), signal),
    enable: (pool, signal) => this.#change((config) => edit.enabled(config, pool, true), signal),
    disable: (pool, signal) => this.#change((config) => edit.enabled(config, pool, false), signal),
    remove: (pool, signal) => this.#change((config) => edit.remove(config, pool), signal),
  };

  close(): void {
    this.#link.http.close();
  }

  #miningSwitch(summary: TolerantReader): OfferedControl {
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
      const said = answer.object("error").text("message") ?? "no result";
      throw refusedWith("rig.refused", `${this.#link.http.at} refused "${method}"`, said);
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
    return "XMRig took the configuration";
  }

  /** Read just before a change, and only as it is: what had to be repaired must not be written back. */
  async #strictConfig(signal: AbortSignal): Promise<Config> {
    const { body } = await this.#send({ method: "GET", path: "/2/config" }, signal);
    const parsed = parseStrict(body);
    if ("problem" in parsed || !isRecord(parsed.value)) {
      throw new RigbridgeError("rig.garbled", `${this.#link.http.at}: its configuration could not be read`);
    }
    return parsed.value;
  }

  /** A processor's backend is asked for now and then, a card's each time: its temperature stands there. */
  async #readBackends(signal: AbortSignal, notes: Notes): Promise<unknown> {
    const { isFresh, value } = this.#backends;
    if (isFresh && !hasGraphics(value)) return value;
    try {
      return this.#backends.keep(await this.#get("/2/backends", signal, notes));
    } catch (error) {
      return missed(error, "its backends could not be read", notes);
    }
  }

  /** Whether the configuration may be read, which is whether anything may be changed. */
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

  /** While it takes up a new configuration XMRig may answer half a document, so a garbled read is tried once more. */
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
    // Reading the summary is for whoever has the token; all else may be forbidden to them too.
    const code = reply.status === 401 || call.path === summaryPath ? "rig.login" : "rig.refused";
    if (mistake !== null) throw new RigbridgeError(code, `${http.at} refused ${call.path}: ${mistake}`);
    if (reply.status >= 300) throw refusal(http.at, call, reply);
    return reply;
  }
}

/** XMRig answers 401 without a token (and always when it has none to compare), 403 to a wrong one or when restricted. */
function tokenMistake(status: number, given: boolean): string | null {
  if (status === 401) {
    return given
      ? "XMRig has no access token to compare with; start it with --http-access-token"
      : "XMRig wants its access token (--http-access-token), and none was given";
  }
  return status === 403 ? "the access token is wrong, or XMRig is restricted (--http-no-restricted)" : null;
}

/** A part that is missing is a note, except when the rig is gone altogether. */
function missed(error: unknown, note: string, notes: Notes): null {
  if (!(error instanceof RigbridgeError)) throw error;
  notes.add(note);
  return null;
}

function haltOf(summary: TolerantReader): Halt | undefined {
  if (summary.boolean("paused") === true) return stopped;
  // What it counts of its pool begins with the connection.
  return summary.object("connection").number("uptime") === 0 ? noPoolAnswers : undefined;
}

const restrictedNote =
  "this XMRig only lets itself be read; to steer it, start it with --http-no-restricted and --http-access-token";

const poolActions: readonly PoolAction[] = ["add", "switch", "enable", "disable", "remove", "prioritize"];

function identityOf(summary: TolerantReader): Identity {
  const version = summary.text("version");
  const id = summary.text("id");
  return {
    ...unknownIdentity,
    make: "XMRig",
    model: summary.object("cpu").text("brand"),
    firmware: version === null ? null : `XMRig ${version}`,
    // The host's name unless --api-worker-id says otherwise.
    hostname: summary.text("worker_id"),
    // Made from the MAC unless somebody chose it; a chosen one may be chosen twice.
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
    temperature: highest(devices.map(({ temperature }) => temperature)),
    uptime: summary.number("uptime"),
    mining: paused === null ? (hashrate === null ? null : hashrate > 0) : !paused,
    bestShare: results.numbers("best", { absent: 0 })[0] ?? null,
    shares: {
      accepted: good,
      rejected: good === null || total === null ? null : Math.max(total - good, 0),
      hardwareErrors: null,
    },
    fans: devices.flatMap(({ fanRpm, fanPercent }) =>
      fanRpm === null && fanPercent === null ? [] : [{ rpm: fanRpm, percent: fanPercent }],
    ),
  };
}
