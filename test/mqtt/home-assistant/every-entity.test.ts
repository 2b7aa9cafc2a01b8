import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Bridge } from "../../../src/mqtt/bridge.ts";
import { minerState } from "../../../src/mqtt/miner-state.ts";
import type { SimulatedRig } from "../../../src/simulator/index.ts";
import { specimens } from "../../docs/specimens.ts";
import { until } from "../../until.ts";
import { bridgeTo } from "../bridged.ts";
import { type Mosquitto, type Received, type Subscriber, startMosquitto, subscribeAt } from "../mosquitto.ts";
import { commandsFor, controllableIn, type EntityCommand } from "./entity-commands.ts";
import { caller, type Families, openFamilies } from "./families.ts";

let families: Families;
let mosquitto: Mosquitto;
let bridge: Bridge;
let listening: Subscriber;
/** Rigs are slow, so all get their commands at the same time. */
let runs: Promise<Told[]>[];

/** Some rigs take seconds to execute a command; these delays are short here. */
const start = Date.now();
const hasty = () => start + (Date.now() - start) * 20;

beforeAll(async () => {
  [families, mosquitto] = await Promise.all([openFamilies(specimens, hasty), startMosquitto()]);
  listening = await subscribeAt(mosquitto.url);
  bridge = await bridgeTo(families.service, { url: mosquitto.url });
  runs = specimens.map((_, index) => tellAll(index));
  for (const run of runs) run.catch(() => undefined);
});
afterAll(async () => {
  await bridge.close();
  await listening.close();
  await mosquitto.stop();
  await families.close();
});

/** The result of a command to an entity. */
interface Told extends EntityCommand {
  readonly entity: string;
  readonly answer: Readonly<Record<string, unknown>>;
  /** What the rig was asked to change, as it came in. */
  readonly writes: readonly string[];
  /** The simulated rig's own value; undefined if it has none. */
  readonly done: unknown;
  /** The value in a new reading of the rig, which the state topic had already; null for a button. */
  readonly reported: unknown;
}

const at = (topic: string) => (heard: Received) => heard.topic === topic && heard.payload !== "";
const topicOf = (uid: string, what: string): string => `rigbridge/miner/${uid}/${what}`;

function familyAt(index: number) {
  const miner = families.miners.find(({ name }) => name === `Rig ${index + 1}`);
  const rig = families.rigs[index];
  if (rig === undefined || miner === undefined) throw new Error(`there is no rig ${index + 1}`);
  return { rig, miner, config: `homeassistant/device/rigbridge_miner_${miner.uid}/config` };
}

/** Tells each entity of a family what Home Assistant would. */
async function tellAll(index: number): Promise<Told[]> {
  const { miner, config } = familyAt(index);
  const state = topicOf(miner.uid, "state");
  const announced = await listening.until(at(config));
  await listening.until(at(state));
  const all: Told[] = [];
  for (const component of controllableIn(announced.payload))
    for (const telling of commandsFor(component, listening.last(state) ?? ""))
      all.push({ entity: component.id, ...telling, ...(await tell(index, component.id, telling)) });
  return all;
}

async function tell(index: number, entity: string, { topic, payload, becomes }: EntityCommand) {
  const { rig, miner } = familyAt(index);
  const { uid, id } = miner;
  const from = listening.received.length;
  const before = rig.requests.writes.length;
  await listening.publish(topic, payload);
  const answer = JSON.parse((await listening.until(at(topicOf(uid, "response")), from)).payload);
  rig.model.advance();
  const done = inside[entity]?.(rig);
  // An old Antminer uses the same request to read and to write whether it blinks.
  const writes = rig.requests.writes.slice(before).filter((write) => !write.endsWith("action=onPageLoaded"));
  if (becomes === null) return { answer, writes, done, reported: null };
  const read = async () => {
    const { metaData: _, ...miner } = await families.service.pollMiner({ id }, caller);
    return minerState(miner, null)[becomes.field];
  };
  let reported: Awaited<ReturnType<typeof read>> = null;
  // A reading goes without an answer that comes late; the next one has it.
  const isRead = async () => {
    reported = await read();
    return reported !== null || isUnknown(specimens[index]?.driver ?? "", entity);
  };
  await until(isRead, `${entity} to be read`);
  const says = (heard: Received) =>
    at(topicOf(uid, "state"))(heard) && JSON.parse(heard.payload)[becomes.field] === reported;
  await listening.until(says, from);
  return { answer, writes, done, reported };
}

/** The settings that a simulated rig keeps, as values of the entity. */
const inside: Readonly<Record<string, (rig: SimulatedRig) => unknown>> = {
  mining: ({ model }) => (model.hashing && model.ratedHashrate > 0 ? "ON" : "OFF"),
  frequency: ({ model }) => Math.round(model.frequency / 1e6),
  voltage: ({ model }) => Math.round(model.voltage * 1000),
  fan: ({ model }) => Math.round((model.fanSetting ?? 0) * 100),
  pool: ({ model }) => model.activePool?.url,
};

/** An Avalon does not say how its fan is set, nor an xmrig-proxy with several pools which of them it uses. */
const isUnknown = (driver: string, entity: string): boolean =>
  (driver === "avalon" && entity === "fan") || (driver === "xmrig-proxy" && entity === "pool");

describe.each(specimens.map(({ rigs, driver }, index) => ({ rigs, driver, index })))("$rigs", ({ index, driver }) => {
  test("executes the commands of each of its entities, and its state shows what it then reports", async () => {
    const told = (await runs[index]) ?? [];
    const { controls, canPoolSwitch, poolList } = familyAt(index).miner;
    const hasAny = controls.length > 0 || canPoolSwitch || poolList.some(({ canPrioritize }) => canPrioritize);
    expect(told.length > 0).toBe(hasAny);
    expect(told.filter(({ answer }) => answer.status !== "ok")).toEqual([]);
    // The room is the service's own.
    expect(told.filter(({ entity, writes }) => writes.length === 0 && entity !== "thermostat")).toEqual([]);
    for (const { entity, payload, becomes, done, reported } of told) {
      if (becomes === null) continue;
      if (done !== undefined)
        expect([entity, String(done).toLowerCase()]).toEqual([entity, expect.stringContaining(payload.toLowerCase())]);
      // It takes the step below, or none.
      if (entity === "power_target") expect(reported).toBeLessThanOrEqual(Number(payload));
      else expect([entity, reported]).toEqual([entity, isUnknown(driver, entity) ? null : becomes.value]);
    }
  });
});

test("every kind of entity is among them", async () => {
  const told = (await Promise.all(runs)).flat();
  expect([...new Set(told.map(({ entity }) => entity.replace(/\d+/, "N")))].sort()).toEqual([
    ...["board_N", "fan", "fan_auto", "frequency", "locate", "locate_once", "mining", "mode", "pool", "power_limit"],
    ...[
      "power_target",
      "power_target_choice",
      "reboot",
      "restart",
      "temperature_target",
      "thermostat",
      "throttle",
      "voltage",
    ],
  ]);
});

test("the switch of a group switches only rigs that can be switched", async () => {
  await Promise.all(runs);
  const rack = families.groups.find(({ name }) => name === "Rack 1");
  const { components } = JSON.parse(listening.last(`homeassistant/device/rigbridge_group_${rack?.id}/config`) ?? "");
  const members = families.miners.flatMap(({ name, groupId, controls }, at) =>
    groupId === rack?.id ? [{ name, at, isSwitched: controls.some(({ key }) => key === "mining") }] : [],
  );
  const isMining = () =>
    members.map(({ name }) => {
      const { model } = familyAt(Number(name.replace("Rig ", "")) - 1).rig;
      model.advance();
      return model.mining && model.ratedHashrate > 0;
    });
  const switched = members.filter(({ isSwitched }) => isSwitched).length;
  const before = isMining();
  for (const [payload, expected] of [
    [components.mining.payload_off, members.map(({ isSwitched }, at) => (isSwitched ? false : before[at]))],
    [components.mining.payload_on, members.map(({ isSwitched }, at) => (isSwitched ? true : before[at]))],
  ]) {
    const from = listening.received.length;
    await listening.publish(components.mining.command_topic, payload);
    const answer = JSON.parse((await listening.until(at(`rigbridge/group/${rack?.id}/response`), from)).payload);
    expect(answer).toMatchObject({
      status: "ok",
      data: { done: switched, failed: 0, skipped: members.length - switched },
    });
    expect(isMining()).toEqual(expected);
    const says = (heard: Received) =>
      at(`rigbridge/group/${rack?.id}/state`)(heard) && JSON.parse(heard.payload).mining === payload;
    await listening.until(says, from);
  }
});
