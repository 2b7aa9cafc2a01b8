import { test } from "@jest/globals";
import fc from "fast-check";
import type { Driver } from "../../../src/link/driver.ts";
import { axeos } from "../../../src/link/drivers/axeos/index.ts";
import { bzminer } from "../../../src/link/drivers/bzminer/index.ts";
import { ccminer } from "../../../src/link/drivers/ccminer/index.ts";
import { cgminer } from "../../../src/link/drivers/cgminer/index.ts";
import { claymore } from "../../../src/link/drivers/claymore/index.ts";
import { ethminer } from "../../../src/link/drivers/ethminer/index.ts";
import { gminer } from "../../../src/link/drivers/gminer/index.ts";
import { nbminer } from "../../../src/link/drivers/nbminer/index.ts";
import { rigel } from "../../../src/link/drivers/rigel/index.ts";
import { srbminer } from "../../../src/link/drivers/srbminer/index.ts";
import { trex } from "../../../src/link/drivers/trex/index.ts";
import { xmrig } from "../../../src/link/drivers/xmrig/index.ts";
import { zenemy } from "../../../src/link/drivers/zenemy/index.ts";
import type { Link } from "../../../src/link/link.ts";
import { linkOf } from "../link-double.ts";
import { expectContractReads } from "./contract-reads.ts";

const odd = fc.constantFrom<unknown>(
  ...[null, true, "", "nan", "inf", "m-m", "0-0-255", "7.64G", "-1", "\u202e\u0000x", "DevFee", "GH", "MH"],
  ...[0, -1, 255, 1.5, 1e308, 2 ** 63, Number.POSITIVE_INFINITY],
  ...[[], {}, [null], [[]], [{}], { __proto__: null }],
);
const plain = fc.oneof(odd, fc.integer(), fc.double(), fc.string());

/** An object with some of these keys, each with its own kind of value or any other. */
const some = (keys: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Record<string, unknown>> =>
  fc.record(Object.fromEntries(Object.entries(keys).map(([key, own]) => [key, fc.oneof(own, odd)])), {
    requiredKeys: [],
  });
const plains = (...keys: string[]): Record<string, fc.Arbitrary<unknown>> =>
  Object.fromEntries(keys.map((key) => [key, plain]));
const listOf = (each: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => fc.array(fc.oneof(each, odd), { maxLength: 4 });

const status = fc.constantFrom<unknown>([{ STATUS: "S", Msg: "x" }], "S", [{ STATUS: "E", Code: 14, Msg: {} }], {}, []);
const section = (name: string, keys: string[]): fc.Arbitrary<unknown> =>
  some({ STATUS: status, [name]: listOf(some(plains(...keys))) });
const rates = ["MHS 5s", "GHS 5s", "KHS 20s", "MHS av", "HS RT"];
const sections = {
  summary: section("SUMMARY", [
    ...rates,
    "Elapsed",
    "Best Share",
    "Accepted",
    "Hardware Errors",
    "Power",
    "MAC",
    "Work Utility",
  ]),
  pools: section("POOLS", ["POOL", "URL", "User", "Status", "Priority", "Quota", "Accepted", "Stratum Active"]),
  devs: section("DEVS", [
    ...rates,
    "ASC",
    "PGA",
    "GPU",
    "Name",
    "ID",
    "Enabled",
    "Status",
    "Temperature",
    "Fan Speed",
    "Intensity",
  ]),
  stats: section("STATS", [
    "Type",
    "chain_acn1",
    "chain_acs1",
    "chain_rate1",
    "temp_pcb1",
    "temp2_1",
    "freq1",
    "fan1",
    "fan_num",
    "rate_unit",
    "chain_vol1",
  ]),
};
const rpcAnswer = fc.oneof(
  some(Object.fromEntries(Object.entries(sections).map(([name, each]) => [name, fc.array(each, { maxLength: 2 })]))),
  ...Object.values(sections),
  some({
    STATUS: status,
    VERSION: listOf(some(plains("CGMiner", "Miner", "Type", "MAC", "DNA"))),
    COIN: listOf(some(plains("Hash Method"))),
    CHECK: listOf(some({ Exists: fc.constant("Y"), Access: fc.constant("Y") })),
  }),
);

const httpAnswer = fc.oneof(
  some({
    ...plains(
      "hashRate",
      "hashRate_1h",
      "expectedHashrate",
      "power",
      "temp",
      "temp2",
      "vrTemp",
      "fanspeed",
      "fanrpm",
      "fan2rpm",
    ),
    ...plains(
      "frequency",
      "coreVoltage",
      "coreVoltageActual",
      "voltage",
      "bestDiff",
      "uptimeSeconds",
      "macAddr",
      "ASICModel",
    ),
    ...plains(
      "stratumURL",
      "stratumPort",
      "stratumUser",
      "fallbackStratumURL",
      "stratumTLS",
      "miningPaused",
      "autofanspeed",
      "temptarget",
    ),
    frequencyOptions: listOf(plain),
    hashrateMonitor: some({ asics: listOf(some(plains("errorCount"))) }),
  }),
  some({
    ...plains("uptime", "worker_id", "id", "algo", "version", "kind"),
    restricted: fc.boolean(),
    paused: fc.boolean(),
    hashrate: some({ total: listOf(plain) }),
    results: some({ best: listOf(plain), shares_good: plain, shares_total: plain }),
    connection: some(plains("pool", "tls", "accepted")),
    pools: listOf(some(plains("url", "user", "enabled", "tls"))),
  }),
  listOf(
    some({
      type: fc.constantFrom("cpu", "cuda", "opencl"),
      enabled: fc.boolean(),
      threads: listOf(
        some({
          ...plains("name", "bus_id"),
          hashrate: listOf(plain),
          health: some({ ...plains("temperature", "clock", "rpm"), fan_speed: listOf(plain) }),
        }),
      ),
    }),
  ),
);

const algorithmRates = plains("kawpow", "etchash");
const programPool = some({
  ...plains("url", "user", "worker", "current_url", "id", "status", "algorithm", "state", "pool"),
  connection_details: some(plains("hostname", "port", "username", "ssl", "password")),
});
const programCard = some({
  ...plains("name", "info", "device", "model", "pci_bus", "bus_id", "pci_bus_id", "pci_address", "vendor", "state"),
  ...plains("hashrate_raw", "speed", "speed2", "temperature", "memTemperature", "fan", "power", "cclock", "paused"),
  ...plains("disabled", "gpu_user_id", "selected", "fan_speed_rpm", "asic_power", "intensity"),
  hashrate: fc.oneof(listOf(plain), some(algorithmRates), plain),
  status: listOf(fc.constantFrom(3, 2)),
  pool: listOf(fc.nat(2)),
  shares: some(plains("accepted_count", "rejected_count")),
  monitoring_info: some(plains("core_temperature", "fan_speed", "core_clock")),
});
/** The page of any mining program over HTTP. */
const programAnswer = some({
  ...plains("description", "version", "uptime", "uptime_s", "mining_time", "hashrate_day", "paused", "rig_name"),
  ...plains("total_accepted_shares", "total_accepted_shares2", "server", "server2", "user", "user2", "start_time"),
  ...plains("miner_version", "bzminer_version", "success", "sid", "result", "power_usage", "total_cpu_workers"),
  name: fc.constantFrom("t-rex", "z-enemy", "Rigel"),
  algorithm: fc.constantFrom("kawpow", "kawpow+etchash", "kawpow + etchash", "kawpow_ethash"),
  miner: fc.oneof(
    fc.constant("GMiner 3.44"),
    some({ ...plains("total_hashrate_raw", "total_hashrate2_raw"), devices: listOf(programCard) }),
  ),
  stratum: some({ ...plains("url", "url2", "user", "use_ssl", "algorithm"), dual_mine: fc.boolean() }),
  hashrate: fc.oneof(plain, some(algorithmRates)),
  solution_stat: some({ kawpow: some(plains("accepted", "invalid")) }),
  active_pool: programPool,
  dual_stat: some({ ...plains("algorithm", "hashrate"), active_pool: programPool }),
  gpus: listOf(programCard),
  stat_by_gpu: listOf(some(plains("accepted_count"))),
  devices: listOf(programCard),
  gpu_devices: listOf(programCard),
  cpu_devices: listOf(programCard),
  pools: fc.oneof(listOf(programPool), some({ kawpow: listOf(programPool), etchash: listOf(programPool) })),
  algorithms: listOf(
    some({
      ...plains("name"),
      pool: programPool,
      shares: some(plains("accepted", "rejected")),
      hashrate: some({ ...plains("now", "1min"), gpu: some(plains("gpu0", "total")), cpu: some(plains("total")) }),
      gpu_accepted_shares: some(plains("gpu0")),
    }),
  ),
});
const oddText = fc.oneof(
  fc.constantFrom(
    "off",
    "",
    ";",
    "1;2;3",
    "60;50;61;51",
    "off;off",
    "-1;nan",
    "30150;30200",
    "1e308;\u202e",
    "a.b:1;c.d:2",
  ),
  fc.string(),
);
const statistics = fc.record({
  result: fc.array(fc.oneof(oddText, oddText, oddText, plain), { minLength: 6, maxLength: 20 }),
});
const numbers = fc.array(fc.oneof(fc.integer({ min: -1, max: 300 }), plain), { maxLength: 4 });
const detail = some({
  result: fc.oneof(
    some({
      host: some(plains("version", "runtime", "name")),
      connection: some(plains("uri", "connected")),
      mining: some({ hashrate: plain, shares: numbers }),
      devices: listOf(
        some({
          _index: plain,
          hardware: some({ ...plains("name", "pci", "type"), sensors: numbers }),
          mining: some({ ...plains("hashrate", "paused", "pause_reason"), shares: numbers }),
        }),
      ),
    }),
    listOf(some(plains("index", "active", "uri"))),
  ),
  error: some(plains("code", "message")),
  jsonrpc: plain,
});
const keys = [
  "NAME",
  "VER",
  "ALGO",
  "KHS",
  "HS",
  "GPUS",
  "CPUS",
  "POOLS",
  "UPTIME",
  "URL",
  "USER",
  "CARD",
  "BUS",
  "TEMP",
];
const record = fc
  .array(
    fc.tuple(
      fc.constantFrom(...keys, "POWER", "FAN", "GPUF", "__proto__"),
      fc.oneof(oddText, fc.integer().map(String)),
    ),
  )
  .map((fields) => fields.map(([key, value]) => `${key}=${value}`).join(";"));
const records = fc.oneof(
  fc.array(record, { maxLength: 3 }).map((some) => `ALGO=x;KHS=1;${some.join("|")}|`),
  fc.constantFrom("help\npool\nswitchpool\n|", "|", "ok|"),
  oddText,
);

/** A link whose device says these things, one after the other, and the first again when they run out. */
function linkSaying(answers: readonly unknown[]): Link {
  let asked = 0;
  const next = (): unknown => answers[asked++ % answers.length];
  const reply = async () => ({ value: next(), notes: [] });
  const http = async () => ({ status: 200, headers: {}, body: JSON.stringify(next()) ?? "null", notes: [] });
  return linkOf({
    credentials: { password: "password", token: "token" },
    rpc: { send: reply, ask: reply },
    frames: { ask: reply },
    http: { getJson: reply, send: http, call: http },
    lines: {
      ask: async (requests) => requests.map(() => ({ value: next(), notes: [] })),
      text: async () => String(next()),
    },
  });
}

test.each<[string, Driver, fc.Arbitrary<unknown>]>([
  ["cgminer", cgminer, rpcAnswer],
  ["axeos", axeos, httpAnswer],
  ["xmrig", xmrig, httpAnswer],
  ...[trex, zenemy, gminer, nbminer, rigel, bzminer, srbminer].map(
    (driver): [string, Driver, fc.Arbitrary<unknown>] => [driver.id, driver, programAnswer],
  ),
  ["claymore", claymore, statistics],
  ["ethminer", ethminer, detail],
  ["ccminer", ccminer, records],
])("whatever a device answers, %s reads what fits the contract or fails as documented", async (_, driver, answer) => {
  const answers = fc.array(answer, { minLength: 1, maxLength: 4 });
  await expectContractReads(answers, (said) => driver.connect(linkSaying(said)), 500);
});
