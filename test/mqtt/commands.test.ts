import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { pino } from "pino";
import { Config } from "../../src/config/index.ts";
import type { Miner } from "../../src/contract/resources.ts";
import type { MiningService } from "../../src/contract/service.ts";
import type { Bridge } from "../../src/mqtt/bridge.ts";
import { openStore, type Store, startService } from "../../src/service/index.ts";
import { demoLogin, type Farm, type RigSpec, startFarm } from "../../src/simulator/index.ts";
import { bridgeTo, type LogLine, recordingLog } from "./bridged.ts";
import {
  type Mosquitto,
  type PublishOptions,
  type Received,
  type Subscriber,
  startMosquitto,
  subscribeAt,
} from "./mosquitto.ts";
import { startOldBroker } from "./old-broker.ts";

const caller = { actor: "test" };
const base = "rigbridge";
const json = ({ payload }: Received): Record<string, unknown> => JSON.parse(payload);

let mosquitto: Mosquitto;
let farm: Farm;
let store: Store;
let service: MiningService;
let bridge: Bridge;
let listener: Subscriber;
let said: LogLine[];
let axeos: Miner;
let whatsminer: Miner;
let sticks: Miner;

beforeAll(async () => {
  mosquitto = await startMosquitto();
  const rigs: RigSpec[] = [
    { kind: "axeos", warm: true },
    { kind: "whatsminer", warm: true },
    { kind: "cgminer", warm: true },
  ];
  farm = await startFarm({ rigs });
  store = await openStore({ file: ":memory:", now: Date.now });
  const logins = rigs.map(demoLogin);
  service = await startService({
    config: Config.parse({
      poll: { interval: 1 },
      groups: [{ name: "Hall", room: true }],
      miners: farm.rigs.map(({ address }, index) => ({ address, group: "Hall", ...logins[index] })),
    }),
    store,
    log: pino({ level: "silent" }),
  });
  const { groupList } = await service.listMiners({}, caller);
  const miners = groupList.flatMap(({ minerList }) => minerList);
  const [first, second, third] = await Promise.all(miners.map(({ id }) => service.pollMiner({ id }, caller)));
  if (first === undefined || second === undefined || third === undefined) throw new Error("a miner is missing");
  [axeos, whatsminer, sticks] = [first, second, third];
  const hearing = recordingLog();
  said = hearing.lines;
  bridge = await bridgeTo(holdable(service), { url: mosquitto.url }, { log: hearing.log });
  listener = await subscribeAt(mosquitto.url, [`${base}/#`, "answers/#"]);
  await listener.until(({ topic }) => topic === `${base}/summary`);
});

afterAll(async () => {
  await listener.close();
  await bridge.close();
  await service.close();
  await store.close();
  await farm.close();
  await mosquitto.stop();
});

/** Actions begin when this is over. */
let held = Promise.resolve();

const holdable = (whole: MiningService): MiningService => ({
  ...whole,
  minerAction: async (...asked) => {
    await held;
    return whole.minerAction(...asked);
  },
});

/** Says it, and gives the answer. */
async function ask(
  thing: string,
  payload: string | Buffer,
  options: PublishOptions = {},
): Promise<Record<string, unknown>> {
  const from = listener.received.length;
  const answers = options.responseTopic ?? `${/^(farm|[^/]+\/[^/]+)/.exec(thing)?.[0]}/response`;
  await listener.publish(`${base}/${thing}`, payload, options);
  return json(await listener.until(({ topic }) => topic === answers || topic === `${base}/${answers}`, from));
}

/** Commands that the rigs have done, by the audit. */
async function told(): Promise<number> {
  const { commandList } = await service.listCommands({}, caller);
  return commandList.filter(({ state }) => state !== "failed").length;
}
const control = async (id: number, key: string) =>
  (await service.pollMiner({ id }, caller)).controls.find((each) => each.key === key)?.value;

describe("a command", () => {
  test("sets a property from plain text, as Home Assistant sends it, and from JSON", async () => {
    const topic = `miner/${axeos.uid}/frequency/set`;
    expect(await ask(topic, "500")).toMatchObject({ status: "ok", data: { frequency: 500, state: "done" } });
    expect(await control(axeos.id, "frequency")).toBe(500);
    expect(await ask(topic, "510.0")).toMatchObject({ status: "ok", data: { frequency: 510 } });
    expect(await ask(topic, '{"value": 520, "transaction": {"a": 1}}')).toMatchObject({
      data: { frequency: 520 },
      transaction: { a: 1 },
    });
    expect(await control(axeos.id, "frequency")).toBe(520);
  });

  test("switches with ON and OFF, and the state shows at once what the rig then reports", async () => {
    const set = `miner/${sticks.uid}/board_0/set`;
    expect(await ask(set, "OFF")).toMatchObject({ status: "ok", data: { board_0: "OFF" } });
    // It comes before the answer; one from before the command may come meanwhile, too.
    expect(JSON.parse(listener.last(`${base}/miner/${sticks.uid}/state`) ?? "")).toMatchObject({ board_0: "OFF" });
    expect(await ask(set, "ON")).toMatchObject({ data: { board_0: "ON" } });
    expect(await control(sticks.id, "board_0")).toBe(true);
  });

  test("may have a unit or a decimal comma, and words in any case", async () => {
    const frequency = `miner/${axeos.uid}/frequency/set`;
    expect(await ask(frequency, "505 MHz")).toMatchObject({ status: "ok", data: { frequency: 505 } });
    expect(await ask(frequency, '{"value": "0,51ghz"}')).toMatchObject({ data: { frequency: 510 } });
    expect(await ask(`miner/${axeos.uid}/voltage/set`, "1.1 V")).toMatchObject({ data: { voltage: 1100 } });
    expect(await ask(`miner/${axeos.uid}/set`, '{"fan": "55 %"}')).toMatchObject({ data: { fan: 55 } });
    expect(await ask(`miner/${axeos.uid}/fan/set`, "AUTO")).toMatchObject({ data: { fan: "auto" } });
    const limit = '{"action": "set_power_limit", "watts": "2.8 kW"}';
    expect(await ask(`miner/${whatsminer.uid}/action`, limit)).toMatchObject({ status: "ok" });
    expect(await control(whatsminer.id, "power_limit")).toBe(2800);
    for (const [word, state] of Object.entries({ Off: "OFF", TRUE: "ON", off: "OFF", on: "ON" }))
      expect(await ask(`miner/${sticks.uid}/board_0/set`, word)).toMatchObject({ data: { board_0: state } });
    const locate = '{"action": "Locate", "on": "Off"}';
    expect(await ask(`miner/${whatsminer.uid}/action`, locate)).toMatchObject({ status: "ok" });
    expect(await ask(frequency, "5 kW")).toMatchObject({
      status: "error",
      code: "input.invalid",
      error: expect.stringContaining('must be in MHz or GHz, not in "kW"'),
    });
    expect(await ask(`miner/${whatsminer.uid}/power_limit/set`, "2,800")).toMatchObject({
      error: expect.stringContaining("is ambiguous because of its comma"),
    });
  });

  test("that is retained while the bridge listens is executed, as any other", async () => {
    const topic = `miner/${axeos.uid}/frequency/set`;
    expect(await ask(topic, "495", { retain: true })).toMatchObject({ status: "ok", data: { frequency: 495 } });
    await listener.publish(`${base}/${topic}`, "", { retain: true });
  });

  test("sets several properties, in the order given", async () => {
    const answer = await ask(`miner/${axeos.uid}/set`, '{"voltage": 1100, "fan": 60, "transaction": "x"}');
    expect(answer).toMatchObject({ status: "ok", data: { voltage: 1100, fan: 60 }, transaction: "x" });
    expect(await control(axeos.id, "fan")).toBe(60);
    expect(await ask(`miner/${axeos.uid}/fan/set`, "auto")).toMatchObject({ data: { fan: "auto" } });
  });

  test("executes an action given as a word, or as JSON with parameters", async () => {
    const locate = '{"action": "locate", "on": true}';
    expect(await ask(`miner/${whatsminer.uid}/action`, locate)).toMatchObject({
      status: "ok",
      data: { state: "done" },
    });
    const limit = '{"action": "set", "property": "frequency", "value": 505}';
    expect(await ask(`miner/${axeos.uid}/action`, limit)).toMatchObject({ status: "ok" });
    expect(await control(axeos.id, "frequency")).toBe(505);
    expect(await ask(`miner/${whatsminer.uid}/locate/set`, "OFF")).toMatchObject({ data: { locate: "OFF" } });
  });

  test("is answered at the sender's response topic with its correlation data", async () => {
    const options = { responseTopic: "answers/of/mine", correlation: "abc" };
    const from = listener.received.length;
    await ask(`miner/${axeos.uid}/frequency/set`, "515", options);
    const answer = await listener.until(({ topic }) => topic === "answers/of/mine", from);
    expect(answer.correlation).toBe("abc");
  });

  test("is never answered at a command topic", async () => {
    const from = listener.received.length;
    const responseTopic = `${base}/miner/${axeos.uid}/set`;
    await listener.publish(`${base}/miner/${axeos.uid}/frequency/set`, "nonsense", { responseTopic });
    await listener.until(({ topic }) => topic === `${base}/miner/${axeos.uid}/response`, from);
    expect(listener.received.slice(from).some(({ topic }) => topic === responseTopic)).toBe(false);
  });

  test("for a group reaches each of its miners that has the control", async () => {
    const [hall] = await service.listGroups({}, caller);
    const answer = await ask(`group/${hall?.id}/action`, '{"action": "set", "property": "locate", "value": "OFF"}');
    expect(answer).toMatchObject({ status: "ok" });
    const limited = await ask(`group/${hall?.id}/frequency/set`, "495");
    expect(limited).toMatchObject({ status: "ok", data: { done: 1, failed: 0, skipped: 2 } });
    expect(await control(axeos.id, "frequency")).toBe(495);
    expect(await ask(`group/${hall?.id}/set`, '{"board_1": "OFF"}')).toMatchObject({ data: { done: 1, skipped: 2 } });
    expect(await ask(`group/${hall?.id}/board_9/set`, "ON")).toMatchObject({ code: "control.absent" });
    expect(await ask("group/99/set", '{"fan": 50}')).toMatchObject({ code: "not.found" });
  });

  test("for the farm reaches every miner that has the control", async () => {
    expect(await ask("farm/set", '{"board_1": "OFF"}')).toMatchObject({ data: { done: 1, skipped: 2 } });
    expect(await ask("farm/board_1/set", "ON")).toMatchObject({ data: { done: 1, skipped: 2 } });
    expect(await ask("farm/action", '{"action": "set", "property": "locate", "value": "OFF"}')).toMatchObject({
      status: "ok",
    });
    expect(await ask("farm/board_9/set", "ON")).toMatchObject({
      code: "control.absent",
      error: "No miner of this farm has that control",
    });
  });
});

test("a command cannot exceed the maximum of a room", async () => {
  const [room] = await service.listRooms({}, caller);
  const max = (room?.control?.value ?? 0) + 10;
  await service.changeRoom({ key: room?.key ?? "", max }, caller);
  const before = await control(whatsminer.id, "power_limit");
  for (const property of ["power_limit", "power_target"])
    expect(await ask(`miner/${whatsminer.uid}/${property}/set`, "3300")).toMatchObject({
      status: "error",
      code: "not.possible",
      error: expect.stringContaining(`Hall may take ${max} W at most`),
    });
  expect(await control(whatsminer.id, "power_limit")).toBe(before);
  await service.changeRoom({ key: room?.key ?? "", max: null }, caller);
  expect(await ask(`miner/${whatsminer.uid}/power_limit/set`, "3300")).toMatchObject({ status: "ok" });
});

describe("an invalid command is refused and not executed:", () => {
  let before: number;
  let refused = 0;
  beforeEach(async () => {
    refused += 1;
    // Refusals are answered twenty times a second.
    if (refused % 15 === 1) await new Promise((resolve) => setTimeout(resolve, 1000));
    before = await told();
  });

  test.each([
    ["text instead of a number", "frequency/set", "fast", "input.invalid"],
    ["a number out of range", "frequency/set", "9000", "input.invalid"],
    ["NaN", "frequency/set", "NaN", "input.invalid"],
    ["a list", "frequency/set", "[500]", "input.invalid"],
    ["broken JSON", "frequency/set", '{"value": 500', "input.invalid"],
    ["JSON with another key", "frequency/set", '{"value": 500, "vaule": 1}', "input.invalid"],
    ["JSON without a value", "frequency/set", "{}", "input.invalid"],
    ["null", "frequency/set", '{"value": null}', "input.invalid"],
    ["an invalid word for a switch", "mining/set", "MAYBE", "input.invalid"],
    ["off for a one-time action", "set", '{"reboot": "OFF"}', "input.invalid"],
    ["false for a one-time action", "restart/set", "false", "input.invalid"],
    ["off for a lamp that only flashes", "locate/set", "OFF", "input.invalid"],
    ["an unknown property", "frequenzy/set", "500", "input.invalid"],
    ["a read-only property", "hashrate/set", "500", "control.absent"],
    ["a control that this rig does not have", "power_limit/set", "500", "control.absent"],
    ["a missing board", "board_7/set", "ON", "control.absent"],
    ["an unknown pool", "pool/set", "nowhere", "input.invalid"],
    ["one unknown property among others", "set", '{"frequency": 500, "x": 1}', "input.invalid"],
    ["one missing control among others", "set", '{"frequency": 500, "power_limit": 1}', "control.absent"],
    ["nothing to set", "set", '{"transaction": 1}', "input.invalid"],
    ["plain text for several properties", "set", "500", "input.invalid"],
    ["a forbidden name", "set", '{"__proto__": {"a": 1}}', "input.invalid"],
    ["deep nesting", "set", `{"a":${"[".repeat(100)}${"]".repeat(100)}}`, "input.invalid"],
    ["an unknown action", "action", "explode", "input.invalid"],
    ["an action without its parameter", "action", "set_power_limit", "input.invalid"],
    ["an action with an unknown parameter", "action", '{"action": "restart", "now": true}', "input.invalid"],
    ["an action that is a number", "action", '{"action": 5}', "input.invalid"],
    ["65,537 bytes", "set", Buffer.alloc(65_537, " "), "body.too-large"],
    ["a megabyte", "frequency/set", Buffer.alloc(1_048_576, "5"), "body.too-large"],
    ["invalid UTF-8", "frequency/set", Buffer.from([0xff, 0xfe, 0x35]), "input.invalid"],
  ])("%s", async (_, topic, payload, code) => {
    const answer = await ask(`miner/${axeos.uid}/${topic}`, payload);
    expect(answer).toMatchObject({ status: "error", code, error: expect.any(String) });
    expect(await told()).toBe(before);
    expect(Object.prototype).not.toHaveProperty("a");
  });

  test("an unknown miner", async () => {
    expect(await ask("miner/nobody/set", '{"fan": 50}')).toMatchObject({ code: "not.found" });
    const from = listener.received.length;
    await listener.publish(`${base}/miner/No Body/set`, '{"fan": 50}', { responseTopic: "answers/x" });
    await listener.until(({ topic }) => topic === "answers/x", from);
  });
});

describe("a repeated command", () => {
  test.each(["MQTT 5", "MQTT 3.1.1"])(
    "that the broker retains is not executed at the next start (%s)",
    async (version) => {
      const topic = `${base}/miner/${axeos.uid}/voltage/set`;
      const commanded = listener.received.length;
      await listener.publish(topic, "1200", { retain: true });
      await listener.until((heard) => heard.topic === `${base}/miner/${axeos.uid}/response`, commanded);
      await bridge.close();
      const before = await told();
      const old = version === "MQTT 5" ? null : await startOldBroker(mosquitto.port);
      const hearing = recordingLog();
      const from = listener.received.length;
      const again = await bridgeTo(service, { url: old?.url ?? mosquitto.url }, { log: hearing.log });
      await listener.until(({ topic }) => topic === `${base}/summary`, from);
      expect(await ask(`miner/${axeos.uid}/frequency/set`, version === "MQTT 5" ? "490" : "485")).toMatchObject({
        status: "ok",
      });
      expect(await told()).toBe(before + 1);
      if (old !== null)
        expect(hearing.lines.map(({ msg }) => msg)).toContainEqual(
          expect.stringContaining("A retained command is ignored"),
        );
      await again.close();
      await old?.close();
      await listener.publish(topic, "", { retain: true });
      const restarted = listener.received.length;
      said = hearing.lines;
      bridge = await bridgeTo(holdable(service), { url: mosquitto.url }, { log: hearing.log });
      await listener.until(({ topic }) => topic === `${base}/summary`, restarted);
    },
  );

  test("with the same correlation is executed once, and answered twice", async () => {
    const before = await told();
    const options = { responseTopic: "answers/twice", correlation: "same" };
    await ask(`miner/${axeos.uid}/frequency/set`, "480", options);
    await ask(`miner/${axeos.uid}/frequency/set`, "480", options);
    expect(await told()).toBe(before + 1);
  });

  test("is executed once while the first is under way", async () => {
    const before = await told();
    const { promise, resolve: begin } = Promise.withResolvers<void>();
    held = promise;
    const from = listener.received.length;
    for (let count = 0; count < 5; count += 1) await listener.publish(`${base}/miner/${axeos.uid}/fan/set`, "55");
    // This comes behind them and is answered at once, so the bridge has them all.
    await ask("miner/nobody/set", '{"fan": 55}');
    begin();
    await listener.until(({ topic }) => topic === `${base}/miner/${axeos.uid}/response`, from);
    await ask(`miner/${axeos.uid}/fan/set`, "56");
    expect(await told()).toBe(before + 2);
    expect(await control(axeos.id, "fan")).toBe(56);
  });

  test("is executed again later", async () => {
    const before = await told();
    await ask(`miner/${axeos.uid}/fan/set`, "57");
    await ask(`miner/${axeos.uid}/fan/set`, "57");
    expect(await told()).toBe(before + 2);
  });

  test("commands are executed in order, and the last one wins", async () => {
    const topic = `${base}/miner/${sticks.uid}/board_1/set`;
    const from = listener.received.length;
    for (const word of ["OFF", "ON", "OFF", "ON"]) await listener.publish(topic, word);
    const isAnswer = ({ topic }: Received): boolean => topic === `${base}/miner/${sticks.uid}/response`;
    let at = from;
    for (let count = 0; count < 4; count += 1) at = listener.received.indexOf(await listener.until(isAnswer, at)) + 1;
    expect(await control(sticks.id, "board_1")).toBe(true);
  });
});

test("hundreds of garbage messages are answered and logged at a limited rate, and delay nothing else", async () => {
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const from = listener.received.length;
  const logged = said.length;
  for (let count = 0; count < 500; count += 1)
    void listener.publish(`${base}/miner/${axeos.uid}/${count % 2 ? "set" : "action"}`, `garbage ${count}`);
  const asked = performance.now();
  const options = { responseTopic: "answers/good" };
  expect(await ask(`miner/${sticks.uid}/board_0/set`, "OFF", options)).toMatchObject({ status: "ok" });
  const seconds = Math.ceil((performance.now() - asked) / 1000) + 1;
  const answers = listener.received.slice(from).filter(({ topic }) => topic === `${base}/miner/${axeos.uid}/response`);
  expect(answers.length).toBeGreaterThan(0);
  expect(answers.length).toBeLessThanOrEqual(20 * seconds);
  expect(said.length - logged).toBeLessThanOrEqual(21 * seconds);
});

test("a plain word is an action", async () => {
  const options = { responseTopic: "answers/last" };
  expect(await ask(`miner/${sticks.uid}/action`, "restart", options)).toMatchObject({ status: "ok" });
});
