import { describe, expect, test } from "@jest/globals";
import { type RigReadings, unknownReadings } from "../../src/contract/readings.ts";
import { toggle } from "../../src/link/controls.ts";
import type { PoolReading, Reading } from "../../src/link/driver.ts";
import { unknownIdentity } from "../../src/link/identity.ts";
import { haltOf, reasonIn } from "../../src/link/reason.ts";

const pool = (status: PoolReading["status"], devFee = false): PoolReading => ({
  index: 0,
  url: "stratum+tcp://one.example.com:3333",
  worker: "w",
  active: false,
  priority: 0,
  quota: null,
  accepted: null,
  rejected: null,
  stale: null,
  status,
  devFee,
});

const read = (readings: Partial<RigReadings>, also: Partial<Reading> = {}): Reading => ({
  identity: unknownIdentity,
  readings: { ...unknownReadings(), uptime: 3_600, ...readings },
  pools: [pool("enabled")],
  devices: [],
  controls: [],
  poolActions: [],
  software: null,
  logInterval: null,
  workUtility: null,
  ...also,
});

const mining = (value: boolean | null) => [
  toggle("mining", value, { lasting: false, restartsMining: false, seconds: 5 }),
];
const tuning = { code: "tuning", text: "It is tuning itself" } as const;
const errors = [
  { code: "120", text: "intake fan speed off target" },
  { code: "600", text: "ambient temperature too high" },
];

describe("why a rig does not hash", () => {
  test.each<[string, Reading, string | null]>([
    ["nothing while it hashes, whatever it lists", read({ hashrate: 1e12, errors }, { halt: tuning }), null],
    ["nothing where nobody knows whether it does", read({}), null],
    ["its plug", read({ hashrate: 0, mining: false }, { off: true, controls: mining(false) }), "no-power"],
    ["who stopped it, though its average is not 0 yet", read({ hashrate: 1e9 }, { controls: mining(false) }), "user"],
    [
      "what it says itself, before its switch",
      read({ hashrate: 0 }, { controls: mining(false), halt: tuning }),
      "tuning",
    ],
    ["that it has just begun", read({ hashrate: 0, uptime: 20 }, { controls: mining(true) }), "warming"],
    ["that it says that it starts", read({ hashrate: 0, uptime: null }, { starting: true }), "warming"],
    [
      "dead pools, before errors",
      read({ hashrate: 0, errors }, { pools: [pool("dead"), pool("enabled", true)] }),
      "pools",
    ],
    ["pools that are all off", read({ hashrate: 0 }, { pools: [pool("disabled")] }), "pools"],
    ["the error that names a reason", read({ hashrate: 0, errors }), "hot"],
    ["any error else", read({ hashrate: 0, errors: errors.slice(0, 1) }), "hardware"],
    ["nothing that anybody knows", read({ hashrate: 0 }), "unknown"],
    ["nothing that anybody knows, of one without a hash rate", read({ mining: false }), "unknown"],
  ])("is %s", (_, reading, code) => expect(haltOf(reading)?.code ?? null).toBe(code));

  test("is given in the words of the error", () => {
    expect(haltOf(read({ hashrate: 0, errors }))).toEqual({ code: "hot", text: "ambient temperature too high" });
    expect(haltOf(read({ hashrate: 0 }, { pools: [pool("disabled")] }))?.text).toBe("All of its pools are disabled");
  });
});

describe("the words of a firmware", () => {
  test.each([
    ["the miner has stopped: thermal pause", "hot"],
    ["Over temperature protection", "hot"],
    ["overheat", "hot"],
    ["hash board too hot", "hot"],
    ["Temp is too low to start", "cold"],
    ["power supply protection: output voltage low", null],
    ["power supply: input voltage low", "no-power"],
    ["the miner has stopped: delayed start", "warming"],
    ["preheating", "warming"],
    ["cooling down", "cooling"],
    ["License expired", "licence"],
    ["No alive pools", "pools"],
    ["network lost", "network"],
    ["upgrading firmware", "updating"],
    ["autotuning", "tuning"],
    ["curtailed", "power-limit"],
    ["user pause", "user"],
    ["fan lost", null],
    ["chip bitmap mismatch", null],
  ])("%j", (text, code) => expect(reasonIn(text)).toBe(code));
});
