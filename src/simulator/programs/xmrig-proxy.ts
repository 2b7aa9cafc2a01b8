import type { Conversation } from "../rig.ts";
import { type XmrigPages, xmrig } from "../xmrig/index.ts";
import type { XmrigRig } from "../xmrig/reports.ts";
import type { Program } from "./program.ts";

/**
 * xmrig-proxy 6.26 with three workers; the last is offline. Its password is the access token; without one it is
 * read only.
 */
export function xmrigProxy({ body, options }: Program): Conversation {
  const { password: token = null, writable = true } = options;
  return xmrig(body, { token, restricted: token === null || !writable }, pages);
}

const pages: XmrigPages = {
  reports: { "/1/summary": summary, "/1/workers": workers, "/1/miners": miners },
  config: /^\/1\/config$/,
  methods: new Map(),
};

/** In kH/s: over 1 and 10 min, 1, 12 and 24 h, and since the start. */
const hashrates = ({ model }: XmrigRig, part = 1): number[] =>
  [...[60, 600, 3600, 43_200, 86_400].map((window) => model.hashrate(window)), model.averageHashrate].map(
    (rate) => Math.floor((rate * part) / 10) / 100,
  );

function summary(rig: XmrigRig): Record<string, unknown> {
  const { model, body, restricted } = rig;
  const { accepted, rejected } = model.shares;
  const active = model.activePool === null ? 0 : 1;
  return {
    id: "",
    worker_id: body.name,
    uptime: Math.floor(model.elapsed),
    restricted,
    resources: {
      memory: { free: 8_120_451_072, total: 33_565_859_840, resident_set_memory: 9_476_096 },
      load_average: [0.02, 0.05, 0.01],
      hardware_concurrency: 4,
    },
    features: ["api", "http", "tls"],
    version: "6.26.0",
    kind: "proxy",
    algo: null,
    mode: "nicehash",
    ua: "xmrig-proxy/6.26.0 (Linux x86_64) libuv/1.49.2 gcc/13.2.0",
    donate_level: 0,
    donated: 0.0,
    hashrate: { total: hashrates(rig) },
    miners: { now: 2, max: 3 },
    workers: names(rig).length,
    upstreams: { active, sleep: 0, error: 1 - active, total: 1, ratio: 2.0 * active },
    results: {
      accepted,
      rejected,
      invalid: 0,
      expired: 0,
      avg_time: accepted === 0 ? 0 : Math.floor(model.elapsed / accepted),
      latency: 34,
      hashes_total: Math.floor(model.hashes),
      hashes_donate: 0,
      best: [model.bestShare, ...Array<number>(9).fill(0)],
    },
  };
}

const names = ({ body }: XmrigRig): string[] => ["one", "two", "three"].map((name) => `${body.name}-${name}`);

function workers(rig: XmrigRig): Record<string, unknown> {
  const { accepted, rejected } = rig.model.shares;
  return {
    hashrate: { total: hashrates(rig) },
    mode: "rig_id",
    workers: names(rig).map((name, index) => {
      const isAway = index === 2;
      const half = isAway ? 0 : 0.5;
      const connections = isAway ? 0 : 1;
      const shares = [Math.floor(accepted * half), Math.floor(rejected * half), 0];
      return [
        name,
        `192.0.2.${index + 1}`,
        connections,
        ...shares,
        0,
        rig.model.at,
        ...hashrates(rig, half).slice(0, 5),
      ];
    }),
  };
}

/** With the passwords of the workers. */
function miners(rig: XmrigRig): Record<string, unknown> {
  return {
    format: ["id", "ip", "tx", "rx", "state", "diff", "user", "password", "rig_id", "agent"],
    miners: names(rig)
      .slice(0, 2)
      .map((name, index) => [
        index,
        `192.0.2.${index + 1}`,
        5_000,
        3_000,
        2,
        1_000,
        "x",
        `secret of ${name}`,
        name,
        "XMRig/6.26.0",
      ]),
  };
}
