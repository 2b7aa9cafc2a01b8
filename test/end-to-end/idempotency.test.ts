import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { CommandList } from "../../src/contract/resources.ts";
import { type SimulatedRig, startFarm } from "../../src/simulator/index.ts";
import { type Running, running } from "../cli/command.ts";
import { startRelay } from "../relay.ts";
import { folders } from "../store/folder.ts";
import { until, within } from "../until.ts";

/** The real program over one rig, which runs here and counts its commands. */
const folder = folders();
const id = 1_000_000_001;
const locate = `/api/miners/${id}?action=locate&on=true`;
const annasKey = "key-of-anna-0123456789";
const ready = /is ready at http:\/\/127\.0\.0\.1:(\d+)/;
let place = "";
let rig: SimulatedRig;
let service: Running;
let port = 0;
const closers: (() => Promise<void>)[] = [];

beforeEach(async () => {
  const farm = await startFarm({ rigs: [{ kind: "axeos", warm: true }] });
  closers.push(() => farm.close());
  const [first] = farm.rigs;
  if (first === undefined) throw new Error("a farm of one rig has none");
  rig = first;
  place = folder();
  const config = {
    store: { url: "farm.db" },
    miners: [{ address: rig.address, driver: "axeos", interval: 3600 }],
    users: [{ name: "anna", key: annasKey, privilege: "administrator" }],
  };
  writeFileSync(join(place, "farm.yaml"), JSON.stringify(config));
  await start();
});
afterEach(async () => {
  await kill();
  for (const close of closers.splice(0)) await close();
});

async function start(): Promise<void> {
  service = await running(["serve", "--port", "0", "--config", "farm.yaml"], ready, { cwd: place });
  port = Number(ready.exec(service.said())?.[1]);
}

async function kill(): Promise<void> {
  service.signal("SIGKILL");
  await service.ended;
}

async function send(path: string, key: string, { at = port, user = {} } = {}) {
  const response = await fetch(`http://127.0.0.1:${at}${path}`, {
    method: "POST",
    headers: { "idempotency-key": key, ...user },
  });
  return {
    status: response.status,
    text: await response.text(),
    replayed: response.headers.get("idempotency-replayed"),
  };
}

const commands = async () => {
  const response = await fetch(`http://127.0.0.1:${port}/api/commands`);
  return CommandList.parse(await response.json()).commandList.map(({ id: command, state }) => ({ command, state }));
};
const writes = () => rig.requests.writes.length;

test("a client whose line is cut before the answer asks again: the rig gets one command", async () => {
  const relay = await startRelay({ host: "127.0.0.1", port }, (client, behind) => {
    client.pipe(behind);
    behind.once("data", () => client.destroy());
  });
  closers.push(() => relay.close());
  await expect(send(locate, "one", { at: relay.port })).rejects.toThrow();
  const again = await send(locate, '"one"');
  expect(again).toMatchObject({ status: 200, replayed: "true" });
  expect(await send(locate, "one")).toEqual(again);
  expect(writes()).toBe(1);

  expect(await send(`/api/miners/${id}?action=restart`, "one")).toMatchObject({
    status: 409,
    text: expect.stringContaining("idempotency.reused"),
    replayed: null,
  });
  const both = await Promise.all([send(locate, "two"), send(locate, "two")]);
  expect(both.map(({ status }) => status)).toEqual([200, 200]);
  expect(both.map(({ replayed }) => replayed).toSorted()).toEqual([null, "true"]);
  expect(writes()).toBe(2);
  const anna = await send(locate, "one", { user: { "x-api-key": annasKey } });
  expect(anna).toMatchObject({ status: 200, replayed: null });
  expect(writes()).toBe(3);
  expect(await commands()).toHaveLength(3);
});

test("a service that is killed before it answers has the same command for the same key, and sends it once", async () => {
  rig.fault = { name: "delay", ms: 2_000 };
  const asked = send(locate, "one").catch(() => "cut");
  await until(() => writes() > 0, "the rig to get the command");
  await kill();
  expect(await within(asked, "the request to end")).toBe("cut");
  rig.fault = null;
  await start();
  const [{ command } = { command: 0 }] = await commands();
  for (const _ of [1, 2])
    expect(await send(locate, "one")).toMatchObject({
      status: 504,
      text: expect.stringContaining(`Command ${command} has ended as unknown`),
      replayed: "true",
    });
  expect(await commands()).toEqual([{ command, state: "unknown" }]);
  expect(writes()).toBe(1);

  expect(await send(locate, "new")).toMatchObject({ status: 200, replayed: null });
  expect(writes()).toBe(2);
});

test("a bulk action is started once, also over kill -9", async () => {
  const body = JSON.stringify({ action: "locate", parameters: { on: true }, all: true });
  const bulk = () =>
    fetch(`http://127.0.0.1:${port}/api/actions`, {
      method: "POST",
      headers: { "idempotency-key": "bulk", "content-type": "application/json" },
      body,
    }).then(async (response) => ({ status: response.status, json: await response.json() }));
  const first = await bulk();
  expect(first).toMatchObject({ status: 202, json: { id: expect.any(Number) } });
  await kill();
  await start();
  expect(await bulk()).toEqual(first);
  await until(async () => (await commands()).every(({ state }) => state !== "queued"), "the command to be sent");
  expect(writes()).toBeLessThanOrEqual(1);
});
