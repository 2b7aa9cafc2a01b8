import type { Pool, RigModel } from "../model.ts";
import type { RigBody } from "../rig.ts";

/** The state of a rig in XMRig. */
export interface XmrigRig {
  readonly body: RigBody;
  readonly model: RigModel;
  readonly token: string | null;
  readonly restricted: boolean;
  /** Stopped, until a new configuration arrives. */
  stopped: boolean;
  /** The configuration in use, as it was put; absent parts have their defaults. */
  config: Record<string, unknown>;
  /** The next configuration, and when it takes effect, by the clock of the model. */
  wanted: { readonly config: Record<string, unknown>; readonly pools: Pool[]; readonly at: number } | null;
}

const algorithm = "rx/0";

/** Over 10 s, 60 s and 15 min; null until it has run so long. */
const hashrates = (model: RigModel, part = 1): (number | null)[] =>
  [10, 60, 900].map((window) => (model.elapsed < window ? null : Number((model.hashrate(window) * part).toFixed(2))));

/** `/2/summary`, or with `api` 1 the older form with error logs and the rates of threads. */
export function summary(rig: XmrigRig, api: 1 | 2): Record<string, unknown> {
  const { model } = rig;
  const older = api === 1 ? { error_log: [] } : {};
  const uptime = Math.floor(model.elapsed);
  return {
    id: "",
    worker_id: rig.body.name,
    uptime,
    restricted: rig.restricted,
    resources: {
      memory: { free: 8_120_451_072, total: 33_565_859_840, resident_set_memory: 2_476_982_272 },
      load_average: [16.02, 15.98, 15.4],
      hardware_concurrency: 32,
    },
    features: ["api", "asm", "http", "hwloc", "tls"],
    results: { ...results(model), ...older },
    algo: algorithm,
    connection: { ...connection(model), ...older },
    version: "6.26.0",
    kind: "miner",
    ua: "XMRig/6.26.0 (Linux x86_64)",
    cpu: processor(model),
    donate_level: 1,
    paused: !model.mining && !rig.stopped,
    algorithms: [algorithm],
    hashrate: {
      total: hashrates(model),
      highest: model.elapsed < 10 ? null : Number(model.ratedHashrate.toFixed(2)),
      ...(api === 1 ? { threads: threads(model).map((thread) => thread.hashrate) } : {}),
    },
    hugepages: api === 1 ? true : [1168, 1168],
  };
}

function results(model: RigModel): Record<string, unknown> {
  const { accepted, rejected } = model.shares;
  const all = accepted + rejected;
  return {
    diff_current: model.activePool?.difficulty ?? 0,
    shares_good: accepted,
    shares_total: all,
    avg_time: all === 0 ? 0 : Math.floor(model.elapsed / all),
    avg_time_ms: all === 0 ? 0 : Math.floor((model.elapsed * 1000) / all),
    hashes_total: Math.floor(model.hashes),
    best: [model.bestShare, ...Array<number>(9).fill(0)],
  };
}

function connection(model: RigModel): Record<string, unknown> {
  const pool = model.activePool;
  const { accepted, rejected } = model.shares;
  const uptime = pool === null ? 0 : Math.floor(model.elapsed);
  return {
    pool: pool === null ? "" : pool.url,
    ip: pool === null ? null : "192.0.2.10",
    uptime,
    uptime_ms: uptime * 1000,
    ping: pool === null ? 0 : 34,
    failures: 0,
    tls: null,
    "tls-fingerprint": null,
    algo: pool === null ? null : algorithm,
    diff: pool?.difficulty ?? 0,
    accepted,
    rejected,
    avg_time: accepted === 0 ? 0 : Math.floor(model.elapsed / accepted),
    avg_time_ms: accepted === 0 ? 0 : Math.floor((model.elapsed * 1000) / accepted),
    hashes_total: Math.floor(model.hashes),
  };
}

const processor = (model: RigModel): Record<string, unknown> => ({
  brand: model.hardware.model,
  family: 25,
  model: 33,
  stepping: 0,
  proc_info: 10_620_688,
  aes: true,
  avx2: true,
  x64: true,
  "64_bit": true,
  l2: 8_388_608,
  l3: 67_108_864,
  cores: model.hardware.chips,
  threads: model.hardware.chips * 2,
  packages: 1,
  nodes: 1,
  backend: "hwloc/2.9.0",
  msr: "ryzen_19h",
  assembly: "ryzen",
  arch: "x86_64",
  flags: ["aes", "vaes", "avx", "avx2", "bmi2", "osxsave", "sse2", "ssse3", "sse4.1", "popcnt"],
});

const threads = (model: RigModel) =>
  Array.from({ length: model.hardware.chips }, (_, index) => ({
    intensity: 1,
    affinity: index * 2,
    av: 1,
    hashrate: hashrates(model, 1 / model.hardware.chips),
  }));

/** `/2/backends`: the CPU is in use, GPUs are not. */
export const backends = ({ model }: XmrigRig): unknown[] => [
  {
    type: "cpu",
    enabled: true,
    algo: algorithm,
    profile: "rx",
    "hw-aes": true,
    priority: -1,
    msr: true,
    asm: "ryzen",
    "argon2-impl": null,
    hugepages: [1168, 1168],
    memory: 33_554_432,
    hashrate: hashrates(model),
    threads: threads(model),
  },
  { type: "opencl", enabled: false, algo: null, profile: null, platform: null },
  { type: "cuda", enabled: false, algo: null, profile: null },
];

/** `/2/config`. */
export const config = (rig: XmrigRig): Record<string, unknown> => ({
  api: { id: null, "worker-id": rig.body.name },
  http: { enabled: true, host: "127.0.0.1", port: 8080, "access-token": rig.token, restricted: rig.restricted },
  autosave: true,
  background: false,
  colors: true,
  randomx: { init: -1, mode: "auto", "1gb-pages": false, rdmsr: true, wrmsr: true, numa: true },
  cpu: { enabled: true, "huge-pages": true, "hw-aes": null, priority: null, yield: true, "max-threads-hint": 100 },
  opencl: { enabled: false },
  cuda: { enabled: false },
  "donate-level": 1,
  "print-time": 60,
  "health-print-time": 60,
  retries: 5,
  "retry-pause": 5,
  "user-agent": null,
  watch: true,
  ...rig.config,
  pools: rig.model.pools.map((pool) => ({
    algo: algorithm,
    coin: null,
    url: pool.url,
    user: pool.user,
    pass: pool.password,
    "rig-id": rig.body.name,
    nicehash: false,
    keepalive: true,
    enabled: pool.enabled,
    tls: false,
    "tls-fingerprint": null,
    daemon: false,
  })),
});
