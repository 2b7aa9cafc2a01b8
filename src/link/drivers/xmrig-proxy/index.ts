import { RigbridgeError } from "../../../contract/problems.ts";
import type { ControlKey, Identity, RigReadings } from "../../../contract/readings.ts";
import { unknownReadings } from "../../../contract/readings.ts";
import { isRecord } from "../../../contract/record.ts";
import { detail } from "../../../messages/detail.ts";
import type {
  Driver,
  Halt,
  PoolAction,
  PoolControls,
  PoolReading,
  Question,
  Reading,
  Rig,
  Signs,
} from "../../driver.ts";
import { unknownIdentity } from "../../identity.ts";
import type { Link } from "../../link.ts";
import { halt, noPoolAnswers } from "../../reason.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { parseReply } from "../../transports/json.ts";
import { XmrigApi } from "../xmrig/api.ts";
import { poolsOf } from "../xmrig/pools.ts";

const summaryPath = "/1/summary";

/**
 * xmrig-proxy: its workers' hash rate, their number and its connections to pools. It does not mine, so it has no devices.
 * Its page /1/miners is never read, since it contains the passwords of the workers. Source: xmrig-proxy 6.
 */
export const xmrigProxy: Driver = {
  id: "xmrig-proxy",
  name: "xmrig-proxy",
  evidence: { readings: "vendor document", controls: "vendor document" },
  ports: [],
  recognise: (signs) => recognise(signs),
  connect: (link) => new XmrigProxyRig(link),
};

/** Like XMRig it has no page at /. The token is sent only to servers without such a page. */
function recognise({ root, pages, port }: Signs): Partial<Identity> | Question | undefined {
  if (root === null || root.status < 400 || port === undefined) return undefined;
  if (!Object.hasOwn(pages, summaryPath)) return { page: summaryPath, withToken: true };
  const parsed = parseReply(pages[summaryPath]?.body ?? "");
  if ("problem" in parsed || !isRecord(parsed.value) || parsed.value.kind !== "proxy") return undefined;
  return identityOf(new TolerantReader(parsed.value, new Notes(), ""));
}

class XmrigProxyRig implements Rig {
  readonly quick = true;
  readonly #api: XmrigApi;

  constructor(link: Link) {
    this.#api = new XmrigApi(link, { name: "xmrig-proxy", summary: summaryPath, config: "/1/config" });
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const notes = new Notes();
    const summary = await this.#api.summary(signal, notes);
    const isOpen = summary.boolean("restricted") !== true && (await this.#api.readConfig(signal, notes));
    if (!isOpen) notes.add(this.#api.restrictedNote);
    const readings = readingsOf(summary);
    return {
      identity: identityOf(summary),
      readings: { ...readings, notes: notes.list() },
      pools: isOpen ? usedPools(poolsOf(this.#api.config, summary.object("connection"), notes), readings) : [],
      devices: [],
      controls: [],
      poolActions: isOpen ? poolActions : [],
      ...(isOpen ? {} : { locked: { why: "read-only", text: this.#api.restrictedNote } }),
      halt: haltOf(readings),
      software: "XmrigProxy",
      logInterval: 60,
      workUtility: null,
    };
  }

  async set(key: ControlKey): Promise<string> {
    throw new RigbridgeError("control.absent", `xmrig-proxy does not mine itself; it does not offer "${key}"`);
  }

  get pools(): PoolControls {
    return this.#api.pools;
  }

  close(): void {
    this.#api.close();
  }
}

/** It does not report the pool in use, so switching to a pool is not offered. */
const poolActions: readonly PoolAction[] = ["add", "enable", "disable", "remove", "prioritize"];

function identityOf(summary: TolerantReader): Identity {
  const version = summary.text("version");
  const id = summary.text("id");
  return {
    ...unknownIdentity,
    make: "XMRig",
    model: "xmrig-proxy",
    firmware: version === null ? null : `xmrig-proxy ${version}`,
    hostname: summary.text("worker_id"),
    serial: id !== null && /^[0-9a-f]{16}$/.test(id) ? id : null,
  };
}

/** Its rates are in kH/s, of all its workers: over 1 and 10 min, 1, 12 and 24 h, and since its start. */
function readingsOf(summary: TolerantReader): RigReadings {
  const [minute = null, , , , , all = null] = summary.object("hashrate").numbers("total", { times: 1e3 });
  const results = summary.object("results");
  const upstreams = summary.object("upstreams");
  return {
    ...unknownReadings(),
    hashrate: minute,
    hashrateAverage: all,
    algorithm: summary.text("algo"),
    proxy: {
      workers: summary.integer("workers"),
      connections: summary.object("miners").integer("now"),
      upstreams: upstreams.integer("active"),
      upstreamsFailing: upstreams.integer("error"),
    },
    uptime: summary.number("uptime"),
    mining: minute === null ? null : minute > 0,
    bestShare: results.numbers("best", { absent: 0 })[0] ?? null,
    shares: {
      accepted: results.integer("accepted"),
      rejected: results.integer("rejected"),
      hardwareErrors: results.integer("invalid"),
    },
  };
}

/** The pool in use is known only if a single pool is enabled. */
function usedPools(pools: readonly PoolReading[], { proxy }: RigReadings): PoolReading[] {
  const enabled = pools.filter(({ status }) => status === "enabled");
  const isUsed = enabled.length === 1 && (proxy?.upstreams ?? 0) > 0;
  return pools.map((pool) => ({ ...pool, active: isUsed && pool === enabled[0] }));
}

function haltOf({ proxy }: RigReadings): Halt | undefined {
  if (proxy?.connections === 0) return halt("unknown", detail("reason.noWorker"));
  return proxy?.upstreams === 0 && (proxy.upstreamsFailing ?? 0) > 0 ? noPoolAnswers : undefined;
}
