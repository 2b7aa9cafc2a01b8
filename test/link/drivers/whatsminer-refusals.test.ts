import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { RigbridgeError } from "../../../src/contract/problems.ts";
import { Control, Identity, RigReadings } from "../../../src/contract/readings.ts";
import type { Rig } from "../../../src/link/driver.ts";
import { whatsminer } from "../../../src/link/drivers/whatsminer/index.ts";
import type { Link } from "../../../src/link/link.ts";
import { SessionEnded } from "../../../src/link/session-ended.ts";
import type { SimulatedRig, WhatsminerSpec } from "../../../src/simulator/index.ts";
import { stoppedClock } from "../../clock.ts";
import { startRig } from "../../simulated-rig.ts";
import { objectOf, send } from "../../simulator/ask.ts";
import { within } from "../../until.ts";
import { linkOf } from "../link-double.ts";
import { deadline, rigAt, values } from "../rigs.ts";
import { serve } from "../servers.ts";

const clock = stoppedClock();

async function start(
  spec: Partial<WhatsminerSpec>,
  credentials: object,
): Promise<{ rig: Rig; simulated: SimulatedRig }> {
  const simulated = await startRig({ kind: "whatsminer", warm: true, ...spec }, clock.now);
  const rig = rigAt(whatsminer, simulated.address, credentials);
  await rig.read(deadline());
  return { rig, simulated };
}

describe("a refusal has a code of its own and the device's words", () => {
  test.each([
    ["v1", { password: "falsch12" }, "rig.login", "enc json load err"],
    ["v2", { password: "falsch12" }, "rig.login", "enc json load err"],
    ["v3", { password: "falsch12" }, "rig.login", "token"],
    ["v3", { username: "nobody", password: "super" }, "rig.login", "token"],
    ["v3", { username: "user1", password: "super" }, "rig.read-only", "no permission"],
    ["v3", { username: "user1", password: "geheim12" }, "rig.login", "no permission", { password: "geheim12" }],
    ["v2", { password: "admin" }, "rig.read-only", "can't access write cmd", { writable: false }],
    ["v3", { password: "geheim12" }, "rig.read-only", "no permission", { writable: false, password: "geheim12" }],
  ] as const)("%s with %o: %s", async (generation, credentials, code, words, spec: object = {}) => {
    const { rig, simulated } = await start({ generation, ...spec }, credentials);
    const failure = rig.set("mining", false, deadline());
    await expect(failure).rejects.toMatchObject({ code, message: expect.stringContaining(words) });
    await expect(failure).rejects.toMatchObject({ message: expect.not.stringContaining("falsch12") });
    if (code === "rig.read-only") {
      await expect(failure).rejects.toMatchObject({ message: expect.stringContaining("WhatsMinerTool") });
    }
    expect(simulated.model.mining).toBe(true);
    expect(simulated.requests.writes.filter((write) => write !== "a write that is not allowed")).toEqual([]);
  });

  test("where others hold all tokens", async () => {
    const { rig, simulated } = await start({ generation: "v2" }, { password: "admin" });
    for (let taken = 0; taken < 16; taken += 1) await token(simulated);
    await expect(rig.set("mining", false, deadline())).rejects.toMatchObject({
      code: "rig.busy",
      message: expect.stringContaining("over max connect"),
    });
    clock.pass(31 * 60);
    await rig.set("mining", false, deadline());
    expect(simulated.model.mining).toBe(false);
  });

  test("where it does not want to", async () => {
    const { rig, simulated } = await start({ generation: "v2" }, { password: "admin" });
    simulated.fault = "denied";
    await expect(rig.set("mode", "low", deadline())).rejects.toMatchObject({ code: "rig.read-only" });
    simulated.fault = null;
    await expect(rig.set("mode", "turbo", deadline())).rejects.toMatchObject({ code: "input.invalid" });
    await expect(rig.set("fan", 50, deadline())).rejects.toMatchObject({ code: "control.absent" });
    expect(values(await rig.read(deadline())).mode).toBe("normal");
  });
});

/** As anybody else takes one. */
async function token({ host, port }: SimulatedRig): Promise<void> {
  const socket = await send({ host, port }, '{"cmd":"get_token"}');
  await within(once(socket.resume(), "end"), "the rig to give a token");
}

describe("the token of v2", () => {
  test("is kept while it is valid, and renewed when the device rejects it", async () => {
    const { rig, simulated } = await start({ generation: "v2" }, { password: "admin" });
    await rig.set("locate", true, deadline());
    const asked = simulated.requests.count;
    await rig.set("locate", false, deadline());
    expect(simulated.requests.count - asked).toBe(1);
    clock.pass(31 * 60);
    // Another device would refuse it too, so who answers is asked before there is a new one.
    await expect(rig.set("locate", true, deadline())).rejects.toBeInstanceOf(SessionEnded);
    expect(simulated.requests.count - asked).toBe(2);
    await rig.set("locate", true, deadline());
    // The old one refused, a new one, and what was wanted, done once.
    expect(simulated.requests.count - asked).toBe(4);
    expect(simulated.requests.writes).toHaveLength(3);
  });
});

describe("a device of a few lines", () => {
  const flat = (code: number, words: unknown, letter = "E") =>
    JSON.stringify({ STATUS: letter, When: 1, Code: code, Msg: words, Description: "" });
  const summary = {
    STATUS: [{ STATUS: "S", Msg: "Summary" }],
    SUMMARY: [{ "HS RT": 1, Power: 3000, "Power Limit": 3300 }],
  };

  /** Answers reports by their names, and every encrypted write alike. */
  async function answering(answers: Record<string, string | object>, write = ""): Promise<Rig> {
    const server = await serve((socket, request) => {
      const asked = objectOf(JSON.parse(request));
      const answer = asked.enc === 1 ? write : answers[String(asked.cmd)];
      socket.end(typeof answer === "object" ? JSON.stringify(answer) : (answer ?? flat(14, "invalid cmd")));
    });
    return rigAt(whatsminer, `127.0.0.1:${server.port}`, { password: "admin" });
  }

  const token = flat(134, { time: "1234", salt: "abcdefgh", newsalt: "hgfedcba" }, "S");

  test.each([
    [flat(45, "permission denied"), "rig.read-only", "permission denied"],
    [flat(132, "API command ERROR"), "rig.refused", "API command ERROR"],
    [flat(135, "check token err"), "rig.login", "check token err"],
    [flat(136, "IP limit"), "rig.busy", "IP limit"],
    [flat(137, "base64 decode error"), "rig.refused", "base64 decode error"],
    ['{"enc":"AAAAAAAAAAAAAAAAAAAAAA=="}', "rig.garbled", "could not be read"],
    ["{}", "rig.garbled", "could not be read"],
  ])("that answers a write with %s", async (write, code, words) => {
    const rig = await answering({ summary, pools: {}, devs: {}, get_token: token }, write);
    await expect(rig.set("restart", true, deadline())).rejects.toMatchObject({
      code,
      message: expect.stringContaining(words),
    });
  });

  test.each([
    [
      [{ "329": "2022-01-17 11:28:11" }, { "2010": "2022-01-17 11:28:11", reason: "no pool" }],
      ["329", "2010"],
    ],
    [["329", "2022-01-17 11:28:11"], ["329"]],
    [{ "541": "2022-01-17 11:28:11" }, ["541"]],
    [
      [541, "2010", null, [], {}],
      ["541", "2010"],
    ],
    ["none", []],
  ])("that lists its errors as %j", async (listed, codes) => {
    const rig = await answering({
      summary,
      pools: {},
      devs: {},
      get_error_code: flat(131, { error_code: listed }, "S"),
    });
    const { readings } = await rig.read(deadline());
    expect(readings.errors.map(({ code }) => code)).toEqual(codes);
    expect(readings.notes).toEqual([]);
  });

  test("whose page beside the readings is broken is read with a note", async () => {
    const rig = await answering({
      summary,
      pools: {},
      devs: {},
      get_error_code: '{"STATUS":"S","Msg":{"error_code":[',
    });
    const { readings } = await rig.read(deadline());
    expect(readings).toMatchObject({ hashrate: 1e6, power: 3000, mining: true });
    expect(readings.notes).toEqual([expect.stringContaining("get_error_code")]);
  });

  test("that is cooled by water has no fans, though it counts two that stand still", async () => {
    const wet = { STATUS: [{ STATUS: "S" }], SUMMARY: [{ "HS RT": 1, "Fan Speed In": 0, "Fan Speed Out": 0 }] };
    const devdetails = { STATUS: [{ STATUS: "S" }], DEVDETAILS: [{ Model: "M53S++_VK30" }] };
    const rig = await answering({ summary: wet, pools: {}, devs: {}, devdetails });
    expect((await rig.read(deadline())).readings.fans).toEqual([]);
  });

  test("that is not a WhatsMiner is not read", async () => {
    const rig = await answering({});
    await expect(rig.read(deadline())).rejects.toMatchObject({ code: "rig.garbled" });
  });
});

test("a second connection is reset by the device, and the read says so", async () => {
  const { rig, simulated } = await start({ generation: "v2" }, { password: "admin" });
  const held = connect({ host: simulated.host, port: simulated.port, allowHalfOpen: true });
  held.write('{"cmd":"summary"}');
  await within(once(held, "data"), "the rig to answer the first connection");
  await expect(rig.read(deadline())).rejects.toMatchObject({ code: "rig.garbled" });
  held.destroy();
  await within(once(held, "close"), "the first connection to close");
  await expect(rig.read(deadline())).resolves.toMatchObject({ readings: { mining: true } });
});

describe("whatever a device says", () => {
  const odd = fc.constantFrom<unknown>(
    ...[
      null,
      true,
      "",
      "nan",
      "-1",
      "1e999",
      "\u202e\u0000x",
      "99999",
      "true",
      "auto",
      0,
      -1,
      255,
      1.5,
      1e308,
      2 ** 63,
    ],
    ...[[], {}, [null], [[]], [{}], ["329"], { "329": 1 }, { __proto__: null }],
  );
  const plain = fc.oneof(odd, fc.integer(), fc.double(), fc.string());
  const some = (...keys: string[]): fc.Arbitrary<unknown> =>
    fc.oneof(fc.record(Object.fromEntries(keys.map((key) => [key, plain])), { requiredKeys: [] }), odd);
  const list = (each: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => fc.oneof(fc.array(each, { maxLength: 4 }), odd);
  const status = fc.constantFrom<unknown>([{ STATUS: "S", Msg: "x" }], "S", "E", [{ STATUS: "E", Code: 45 }], {}, 7);
  const summary = some(
    "HS RT",
    "MHS av",
    "Factory GHS",
    "Power",
    "Power Limit",
    "Power Mode",
    "MAC",
    "Elapsed",
    "Error Code Count",
    "Error Code 0",
    "Fan Speed In",
    "Hash Stable",
    "Env Temp",
  );
  const rpc = fc.oneof(
    fc.record(
      {
        STATUS: status,
        SUMMARY: list(summary),
        POOLS: list(some("POOL", "URL", "User", "Stratum Active", "Priority")),
        DEVS: list(some("ASC", "Slot", "Temperature", "HS RT", "PCB SN", "Effective Chips")),
        DEVDETAILS: list(some("Model", "Driver")),
        Code: plain,
        Msg: some(
          "api_ver",
          "fw_ver",
          "mineroff",
          "power_pct",
          "ledstat",
          "error_code",
          "vin",
          "minersn",
          "time",
          "salt",
          "newsalt",
        ),
      },
      { requiredKeys: [] },
    ),
    odd,
  );
  const frame = fc.oneof(
    fc.record(
      {
        code: fc.oneof(fc.constantFrom<unknown>(0, -1, -2, -4), plain),
        when: plain,
        msg: fc.oneof(
          fc.record(
            {
              summary: some(
                "hash-realtime",
                "factory-hash",
                "power-realtime",
                "power-limit",
                "board-temperature",
                "elapsed",
                "up-freq-finish",
              ),
              pools: list(some("url", "account", "stratum-active", "pool-priority", "id", "status", "accepted")),
              edevs: list(some("id", "slot", "freq", "hash-realtime", "status", "effective-chips")),
              network: some("mac", "hostname"),
              miner: some("type", "working", "miner-sn", "pcbsn0"),
              system: some("fwversion", "ledstatus", "apiswitch"),
              power: some("vin", "sn", "model"),
              "error-code": list(plain),
              salt: plain,
              "power-mode": plain,
              "power-percent": plain,
            },
            { requiredKeys: [] },
          ),
          odd,
        ),
      },
      { requiredKeys: [] },
    ),
    odd,
  );

  function linkSaying(rpcAnswers: readonly unknown[], frameAnswers: readonly unknown[]): Link {
    let asked = 0;
    const next = (answers: readonly unknown[]) => async () => ({ value: answers[asked++ % answers.length], notes: [] });
    return linkOf({
      credentials: { password: "x" },
      rpc: { send: next(rpcAnswers), ask: next(rpcAnswers) },
      frames: { ask: next(frameAnswers) },
    });
  }

  const ours = (error: unknown): null => {
    expect(error).toBeInstanceOf(RigbridgeError);
    return null;
  };

  test("reads and writes fit the contract or fail as documented", async () => {
    const answers = fc.tuple(
      fc.array(rpc, { minLength: 1, maxLength: 4 }),
      fc.array(frame, { minLength: 1, maxLength: 4 }),
    );
    await fc.assert(
      fc.asyncProperty(answers, async ([rpcAnswers, frameAnswers]) => {
        const rig = whatsminer.connect(linkSaying(rpcAnswers, frameAnswers));
        for (let reads = 0; reads < 2; reads += 1) {
          const reading = await rig.read(deadline()).catch(ours);
          if (reading === null) continue;
          expect(RigReadings.safeParse(reading.readings).error).toBeUndefined();
          expect(Control.array().safeParse(reading.controls).error).toBeUndefined();
          expect(Identity.safeParse(reading.identity).error).toBeUndefined();
          expect(reading.pools.filter(({ active }) => active).length).toBeLessThanOrEqual(1);
          await rig.set("mining", false, deadline()).catch(ours);
          await rig.pools.use?.({ url: "a.example.com:1", worker: "w", password: "p" }, deadline()).catch(ours);
        }
      }),
      { numRuns: 300 },
    );
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  test("it is recognised or not, without trouble", () => {
    fc.assert(
      fc.property(rpc, rpc, (version, devdetails) => {
        const said = whatsminer.recognise({ root: null, version, pages: {}, reports: { devdetails } });
        expect([undefined, expect.objectContaining({ make: "WhatsMiner" })]).toContainEqual(said);
      }),
    );
  });
});
