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
import { parseReply, parseStrict } from "../../transports/json.ts";
import { refusedWith } from "../../transports/limits.ts";
import { readingsOfCards } from "../shared/gpu-device.ts";
import { Memo } from "../shared/memo.ts";
import { OfferedControls } from "../shared/offered-controls.ts";
import { missed, XmrigApi } from "./api.ts";
import { devicesOf, hasGraphics } from "./backends.ts";
import { activeOnly, poolsOf } from "./pools.ts";

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

/** The processor's backend has nothing that the summary lacks. */
const refreshAfterMs = 60_000;

class XmrigRig implements Rig {
  readonly quick = true;
  readonly #api: XmrigApi;
  readonly #backends: Memo<unknown>;
  readonly #offered = new OfferedControls();

  constructor(link: Link) {
    this.#api = new XmrigApi(link, { name: "XMRig", summary: summaryPath, config: "/2/config" });
    this.#backends = new Memo(refreshAfterMs, link.monotonicNow);
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const notes = new Notes();
    const summary = await this.#api.summary(signal, notes);
    const backends = await this.#readBackends(signal, notes);
    const isOpen = summary.boolean("restricted") === false && (await this.#api.readConfig(signal, notes));
    if (!isOpen) notes.add(this.#api.restrictedNote);
    const offered = isOpen ? [this.#miningControl(summary)] : [];
    const connection = summary.object("connection");
    const configured = isOpen ? poolsOf(this.#api.config, connection, notes) : [];
    const pools = configured.length > 0 ? configured : activeOnly(connection);
    const devices = devicesOf(backends, summary, notes);
    return {
      identity: identityOf(summary),
      readings: { ...readingsOf(summary, devices), notes: notes.list() },
      pools,
      devices,
      controls: this.#offered.offer(offered),
      poolActions: isOpen ? poolActions : [],
      ...(isOpen ? {} : { locked: { why: "read-only", text: this.#api.restrictedNote } }),
      halt: haltOf(summary),
      software: "XmrigMiner",
      logInterval: 10,
      workUtility: null,
    };
  }

  set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    return this.#offered.set(this, key, value, signal);
  }

  get pools(): PoolControls {
    return this.#api.pools;
  }

  close(): void {
    this.#api.close();
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
    const reply = await this.#api.send({ method: "POST", path: "/json_rpc", body }, signal);
    const parsed = parseReply(reply.body);
    const answer = new TolerantReader("value" in parsed ? parsed.value : undefined, new Notes(), "");
    const status = answer.object("result").text("status");
    if (status === null) {
      const reason = answer.object("error").text("message") ?? "no result";
      throw refusedWith("rig.refused", `${this.#api.at} refused "${method}"`, reason);
    }
    return status;
  }

  /** The backend of a processor is read now and then, that of a card each time, since it has the temperature. */
  async #readBackends(signal: AbortSignal, notes: Notes): Promise<unknown> {
    const { isFresh, value } = this.#backends;
    if (isFresh && !hasGraphics(value)) return value;
    try {
      return this.#backends.keep(await this.#api.get("/2/backends", signal, notes));
    } catch (error) {
      return missed(error, "its backends could not be read", notes);
    }
  }
}

function haltOf(summary: TolerantReader): Halt | undefined {
  if (summary.boolean("paused") === true) return stopped;
  // The uptime of its pool connection; 0 without one.
  return summary.object("connection").number("uptime") === 0 ? noPoolAnswers : undefined;
}

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
