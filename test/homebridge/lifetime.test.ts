import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, describe, expect, test } from "@jest/globals";
import { startFarm, startTwin } from "../../src/simulator/index.ts";
import { ownHost } from "../own-host.ts";
import { until, within } from "../until.ts";
import { noResponse } from "./controller.ts";
import { type RunningHomebridge, startHomebridge } from "./homebridge.ts";

// depends on: test/homebridge/loaded.mjs

let ending: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ending.toReversed()) await end();
  ending = [];
});

/** Closed at the end of the test. */
function closing<T extends { close(): Promise<void> }>(thing: T): T {
  ending.push(() => thing.close());
  return thing;
}

const names = async ({ controller }: RunningHomebridge): Promise<string[]> =>
  (await controller.accessories()).map(({ name }) => name);

/** Rigs, and nothing else. */
const plain = { name: "Rigbridge", alarm: false };

/** A Homebridge with an existing service; the test closes it, since it may have restarted it. */
async function withTwin() {
  const host = ownHost();
  const twin = await startTwin({ host, miners: 3 });
  const platform = { ...plain, service: { url: twin.url } };
  const started = await startHomebridge({ platform });
  return { host, twin, platform, started };
}

describe("Homebridge with the plugin", () => {
  test("and nothing configured does nothing, and says so in one line", async () => {
    const homebridge = closing(await startHomebridge({ platform: { name: "Rigbridge" } }));
    await homebridge.until(/Nothing is configured/);
    expect(homebridge.lines.filter((line) => line.startsWith("[Rigbridge]"))).toHaveLength(2);
    expect(await names(homebridge)).toEqual([]);
  });

  test("and a configuration with mistakes lists all of them, and keeps running", async () => {
    const rigs = [{ address: "127.0.0.1:1/x" }, { adress: "127.0.0.1" }];
    const homebridge = closing(await startHomebridge({ platform: { name: "Rigbridge", rigs } }));
    await homebridge.until(/rigs\[0\]\.address .*path/);
    await homebridge.until(/rigs\[1\]\.adress is not a known key; did you mean "address"\?/);
    await homebridge.until(/rigs\[1\]\.address is missing/);
    expect(await names(homebridge)).toEqual([]);
  });

  test("removes the accessory of a rig that was removed from the settings, and no other; without settings, all", async () => {
    const farm = closing(await startFarm({ rigs: [{ kind: "axeos" }, { kind: "axeos" }] }));
    const [kept, gone] = farm.rigs.map(({ address }, index) => ({ address, name: `Rig ${index + 1}` }));
    let homebridge = await startHomebridge({ platform: { ...plain, rigs: [kept, gone] } });
    ending.push(() => homebridge.close());
    await until(async () => (await names(homebridge)).length === 2, "both rigs to appear");
    const { id } = await homebridge.controller.find("Rig 1", "outlet", "on");
    homebridge = await homebridge.restart({ platform: { ...plain, rigs: [kept] } });
    await until(async () => (await names(homebridge)).length === 1, "the rig that is gone to disappear");
    expect((await homebridge.controller.find("Rig 1", "outlet", "on")).id).toBe(id);
    homebridge = await homebridge.restart({ platform: plain });
    await homebridge.until(/Nothing is configured/);
    expect(await names(homebridge)).toEqual([]);
  });

  test("keeps its accessories, not responding, while the service is down at its start, and waits for it", async () => {
    const { host, twin, platform, started } = await withTwin();
    let homebridge = started;
    ending.push(() => homebridge.close());
    await until(async () => (await names(homebridge)).length > 0, "the service's rigs to appear");
    const before = await names(homebridge);
    await homebridge.controller.disconnect();
    await twin.close();
    homebridge = await homebridge.restart({ platform });
    await homebridge.until(/cannot be watched/);
    expect(await names(homebridge)).toEqual(before);
    const on = await homebridge.controller.find(before[0] ?? "", "outlet", "on");
    expect((await homebridge.controller.read(on)).status).toBe(noResponse);
    expect(await homebridge.controller.write(on, false)).toBe(noResponse);
    closing(await startTwin({ host, port: Number(new URL(twin.url).port), miners: 3 }));
    await until(async () => (await homebridge.controller.read(on)).status === 0, "the outlet to respond again");
    expect((await homebridge.stop()).code).toBe(0);
  });

  test("removes nothing while the service has no rigs at all, and logs that", async () => {
    const { host, twin, platform, started } = await withTwin();
    let homebridge = started;
    ending.push(() => homebridge.close());
    await until(async () => (await names(homebridge)).length > 0, "the service's rigs to appear");
    const before = await homebridge.controller.accessories();
    await twin.close();
    closing(await startTwin({ host, port: Number(new URL(twin.url).port), miners: 0 }));
    homebridge = await homebridge.restart({ platform });
    await homebridge.until(/The service has no rigs/);
    const after = await homebridge.controller.accessories();
    expect(after.map(({ aid, name }) => [aid, name])).toEqual(before.map(({ aid, name }) => [aid, name]));
  });

  test("stops in time while the service does not answer", async () => {
    const server = createServer().listen(0, ownHost());
    await once(server, "listening");
    ending.push(async () => void server.close());
    const asked = once(server, "connection");
    const address = server.address();
    const url = typeof address === "object" && address !== null ? `http://${address.address}:${address.port}` : "";
    const homebridge = closing(
      await startHomebridge({ platform: { name: "Rigbridge", service: { url, user: "anna" } } }),
    );
    await within(asked, "the plugin to ask the service");
    expect((await homebridge.stop()).code).toBe(0);
  });
});

test("an existing service loads nothing of the service inside, which loads no server", async () => {
  const run = promisify(execFile);
  const loaded = async (module: string): Promise<string[]> => {
    const { stdout } = await run(process.execPath, [join(import.meta.dirname, "loaded.mjs"), module]);
    return stdout.trim().split("\n");
  };
  const elsewhere = await loaded("index.js");
  expect(elsewhere).toContain("axios");
  expect(elsewhere).not.toContain("kysely");
  const inside = await loaded("open-service.js");
  for (const heavy of ["fastify", "mqtt", "aedes", "homebridge", "@fastify/swagger"]) {
    expect(elsewhere).not.toContain(heavy);
    expect(inside).not.toContain(heavy);
  }
});
