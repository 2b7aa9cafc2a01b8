import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { pino } from "pino";
import { Config } from "../../src/config/index.ts";
import type { Miner } from "../../src/contract/resources.ts";
import type { MiningService } from "../../src/contract/service.ts";
import type { Bridge } from "../../src/mqtt/bridge.ts";
import { openStore, type Store, startService } from "../../src/service/index.ts";
import { type Farm, type RigSpec, startFarm } from "../../src/simulator/index.ts";
import { bridgeTo, type LogLine, recordingLog } from "./bridged.ts";
import { type Mosquitto, type Subscriber, startMosquitto, subscribeAt } from "./mosquitto.ts";

const caller = { actor: "test" };

/** Read-only rigs; some reveal it only by refusing a command. */
const rigs: readonly {
  readonly name: string;
  readonly spec: RigSpec;
  readonly login?: object;
  readonly code: string;
  /** The code for an action, which the service itself checks; default: the same. */
  readonly actionCode?: string;
}[] = [
  { name: "XMRig that is restricted", spec: { kind: "xmrig" }, code: "control.absent", actionCode: "rig.read-only" },
  {
    name: "cgminer without --api-allow",
    spec: { kind: "cgminer", privileged: false },
    code: "control.absent",
    actionCode: "rig.read-only",
  },
  {
    name: "WhatsMiner whose API is not switched on",
    spec: { kind: "whatsminer", writable: false },
    code: "rig.read-only",
    login: { username: "admin", password: "admin" },
  },
  {
    name: "WhatsMiner with another password",
    spec: { kind: "whatsminer", password: "another-one" },
    code: "rig.login",
    login: { username: "admin", password: "admin" },
  },
  { name: "Antminer without its login", spec: { kind: "antminer" }, code: "control.absent", actionCode: "rig.login" },
];

let mosquitto: Mosquitto;
let farm: Farm;
let store: Store;
let service: MiningService;
let bridge: Bridge;
let listener: Subscriber;
let miners: Miner[];
let said: LogLine[];

beforeAll(async () => {
  mosquitto = await startMosquitto();
  farm = await startFarm({ rigs: rigs.map(({ spec }) => ({ ...spec, warm: true })) });
  store = await openStore({ file: ":memory:", now: Date.now });
  const config = Config.parse({
    poll: { interval: 3600 },
    groups: [{ name: "Hall" }],
    miners: rigs.map(({ name, login }, index) => ({
      address: farm.rigs[index]?.address,
      name,
      group: "Hall",
      ...login,
    })),
  });
  service = await startService({ config, store, log: pino({ level: "silent" }) });
  const { groupList } = await service.listMiners({}, caller);
  for (const { id } of groupList.flatMap(({ minerList }) => minerList)) await service.pollMiner({ id }, caller);
  miners = (await service.listMiners({}, caller)).groupList.flatMap(({ minerList }) => minerList);
  const hearing = recordingLog();
  said = hearing.lines;
  bridge = await bridgeTo(service, { url: mosquitto.url }, { log: hearing.log });
  listener = await subscribeAt(mosquitto.url);
  await listener.until(({ topic }) => topic === "rigbridge/summary");
});
afterAll(async () => {
  await bridge.close();
  await listener.close();
  await service.close();
  await store.close();
  await farm.close();
  await mosquitto.stop();
});

// Refusals are answered twenty times a second; here are fewer.
describe.each(rigs.map((rig, index) => ({ ...rig, index })))("$name", ({ name, code, actionCode = code, index }) => {
  test.each([
    ["mining/set", "OFF"],
    ["set", '{"mining": "OFF"}'],
    ["action", "reboot"],
  ])("answers %s %s with an error, which is logged, and does nothing", async (topic, payload) => {
    const uid = miners.find((each) => each.name === name)?.uid;
    const from = listener.received.length;
    const logged = said.length;
    await listener.publish(`rigbridge/miner/${uid}/${topic}`, payload, { responseTopic: "answers" });
    const answer = JSON.parse((await listener.until((heard) => heard.topic === "answers", from)).payload);
    const refusal = topic === "action" ? actionCode : code;
    expect(answer).toMatchObject({ status: "error", code: refusal, error: expect.any(String) });
    // The reason, whether the service or the rig refused.
    if (code === "control.absent") expect(answer.error).toMatch(/can only be read|is read only|only to read it|login/);
    expect(said.slice(logged)).toMatchObject([{ level: 40, msg: `A command is refused: ${answer.error}` }]);
    expect([farm.rigs[index]?.requests.writes, farm.rigs[index]?.model.mining]).toEqual([[], true]);
    expect(JSON.parse(listener.last(`rigbridge/miner/${uid}/state`) ?? "")).toMatchObject({ mining: "ON" });
  });
});

test("a group of such rigs answers that all have failed", async () => {
  const [hall] = await service.listGroups({}, caller);
  await listener.publish(`rigbridge/group/${hall?.id}/mining/set`, "OFF", { responseTopic: "answers/group" });
  const { payload } = await listener.until(({ topic }) => topic === "answers/group");
  expect(JSON.parse(payload)).toMatchObject({ status: "error", code: "rig.refused" });
  expect(JSON.parse(payload).error).toMatch(/^All 2 miners failed; the first: .* it can only be read/);
  expect(farm.rigs.map(({ model }) => model.mining)).toEqual(rigs.map(() => true));
});
