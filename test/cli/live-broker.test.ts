import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { startFarm } from "../../src/simulator/index.ts";
import { type Mosquitto, type Subscriber, startMosquitto, subscribeAt } from "../mqtt/mosquitto.ts";
import { retainedAt } from "../mqtt/retained.ts";
import { ownHost } from "../own-host.ts";
import { until } from "../until.ts";
import { type Running, running } from "./command.ts";

// depends on: mosquitto

interface Notifications {
  readonly notificationList: readonly { readonly closedUtc: string | null }[];
}

const ready = /is ready at (http:\/\/127\.0\.0\.1:\d+)/;

let folder = "";
let farm: Awaited<ReturnType<typeof startFarm>>;
let broker: Mosquitto;
let seen: Subscriber;
let service: Running;

const url = (): string => ready.exec(service.said())?.[1] ?? "";
const send = async (method: string, path: string, body?: unknown) => {
  const asked =
    body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  const answer = await fetch(`${url()}/api/${path}`, { method, ...asked });
  return { status: answer.status, body: JSON.stringify(await answer.json()) };
};
const save = (section: string, value: unknown) => send("PUT", `settings/${section}`, { value });
const health = async () => {
  const { mqtt } = (await (await fetch(`${url()}/health`)).json()) as { mqtt?: { state: string } };
  return mqtt?.state ?? null;
};
const topicsOf = (root: string): string[] =>
  [...new Set(seen.received.map(({ topic }) => topic))].filter((topic) => topic.startsWith(`${root}/`));
const holds = (topic: string, words: string): boolean => seen.last(topic)?.includes(words) === true;
/** Events are not retained, and a rig may have had one. */
const retainedBelow = async (root: string): Promise<string[]> =>
  [...(await retainedAt(broker.url, login)).keys()].filter((topic) => topic.startsWith(`${root}/`));
const isClosed = async (words: string): Promise<boolean> => {
  const { notificationList } = (await (await fetch(`${url()}/api/notifications`)).json()) as Notifications;
  return notificationList.every(
    ({ closedUtc, ...said }) => closedUtc !== null || !JSON.stringify(said).includes(words),
  );
};
const login = { username: "rig", password: "the-right-word" };
const settings = () => ({ url: broker.url, ...login });

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rigbridge-broker-"));
  farm = await startFarm({ rigs: [{ kind: "axeos", warm: true, host: ownHost() }] });
  broker = await startMosquitto({ users: { rig: login.password } });
  seen = await subscribeAt(broker.url, ["#"], login);
  service = await running(["serve", "--data", folder, "--port", "0"], ready, { cwd: folder });
  const { id: groupId } = JSON.parse((await send("POST", "groups", { name: "den" })).body) as { id: number };
  await send("POST", "miners", { groupId, address: farm.rigs[0]?.address, name: "rig" });
});
afterEach(async () => {
  service.signal("SIGKILL");
  await service.ended;
  await seen.close();
  await broker.stop();
  await farm.close();
  await rm(folder, { recursive: true });
});

test("a broker is set, with a wrong password and then the right one, and left, while the service runs", async () => {
  expect(await health()).toBeNull();
  const surplus = { name: "Sun", miners: ["rig"], surplus: { topic: "meter/surplus" } };
  const refused = await save("follow", surplus);
  expect([refused.status, refused.body]).toEqual([400, expect.stringContaining("needs the MQTT bridge")]);

  expect((await save("mqtt", { ...settings(), password: "a-wrong-word" })).body).toContain("The MQTT bridge starts");
  await until(() => service.said().includes("refuses the username and password"), "the broker's refusal");
  expect(await health()).toBe("disconnected");
  expect(service.said()).not.toContain("a-wrong-word");

  expect((await save("mqtt", settings())).body).toContain("The MQTT bridge reconnects");
  await seen.until(({ topic, payload }) => topic.startsWith("homeassistant/device/") && payload !== "");
  await seen.until(({ topic, payload }) => topic === "rigbridge/bridge/state" && payload === "online");
  expect(await health()).toBe("connected");
  await seen.publish("rigbridge/miner/none/event", "{}");

  expect((await save("mqtt", { ...settings(), base: "house" })).status).toBe(200);
  await seen.until(({ topic, payload }) => topic === "rigbridge/bridge/state" && payload === "offline");
  await seen.until(({ topic, payload }) => topic === "house/bridge/state" && payload === "online");

  // Home Assistant keeps no entities of the former base.
  await until(
    () => topicsOf("homeassistant").some((topic) => holds(topic, "house/bridge/state")),
    "the entities of the new base",
  );
  await until(
    async () => (await retainedBelow("rigbridge")).length === 0,
    "nothing to be retained below the former base",
    { details: service.said },
  );
  expect(topicsOf("homeassistant").filter((topic) => holds(topic, "rigbridge/bridge/state"))).toEqual([]);

  expect((await save("mqtt", { ...settings(), base: "house", homeAssistant: { prefix: "ha" } })).status).toBe(200);
  await until(
    () => topicsOf("ha").some((topic) => holds(topic, "house/bridge/state")),
    "entities below the new prefix",
  );
  await until(async () => (await retainedBelow("homeassistant")).length === 0, "none below the former prefix");
  expect(holds("house/bridge/state", "online")).toBe(true);

  expect((await send("DELETE", "settings/mqtt")).body).toContain("The MQTT bridge stops");
  await seen.until(({ topic, payload }) => topic === "house/bridge/state" && payload === "offline");
  expect(await health()).toBeNull();
});

test("a topic is heard over the bridge that was set later, and over the one after it", async () => {
  await save("mqtt", settings());
  const heating = { name: "Den", group: "den", target: 21, roomTemperature: { topic: "den/temperature" } };
  expect((await save("heating", [heating])).status).toBe(200);
  const room = async () => {
    const { body } = await send("GET", "rooms");
    return /"(?:roomTemperature|temperature|room)":([^,}]*)/.exec(body)?.[1];
  };
  await seen.publish("den/temperature", "19.5", { retain: true });
  await until(async () => (await room()) === "19.5", "the temperature of the room");
  expect((await send("DELETE", "settings/mqtt")).body).toContain("heating[0].roomTemperature.topic");
  await save("mqtt", { ...settings(), clientId: "other" });
  await seen.publish("den/temperature", "20.5", { retain: true });
  await until(async () => (await room()) === "20.5", "the temperature heard over the other connection");
});

test("settings that cannot be used bring the bridge back as it was; at a start the service goes on without it", async () => {
  const ca = join(folder, "ca.pem");
  await writeFile(ca, "");
  await save("mqtt", { ...settings(), ca });
  await until(async () => (await health()) === "connected", "the bridge to connect");
  const { status, body } = await save("mqtt", { ...settings(), ca: join(folder, "none.pem") });
  expect([status, body]).toEqual([400, expect.stringContaining("none.pem cannot be read (ENOENT)")]);
  await until(async () => (await health()) === "connected", "the bridge to connect again");
  expect((await send("GET", "settings")).body).toContain(JSON.stringify(ca));
  service.signal("SIGKILL");
  await service.ended;
  await rm(ca);
  service = await running(["serve", "--data", folder, "--port", "0"], ready, { cwd: folder });
  expect(service.said()).toContain("The MQTT bridge did not start: mqtt.ca");
  expect((await send("GET", "notifications")).body).toContain("ca.pem cannot be read (ENOENT)");
  expect((await save("mqtt", settings())).status).toBe(200);
  await until(async () => (await health()) === "connected", "the bridge to connect with settings that were mended");
  await until(async () => isClosed("ca.pem"), "the warning to end");
});
