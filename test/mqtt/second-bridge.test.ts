import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { MiningService } from "../../src/contract/service.ts";
import { claimDelays } from "../../src/mqtt/claim.ts";
import { startFarm } from "../../src/simulator/index.ts";
import { running } from "../cli/command.ts";
import { kinds, type Opened } from "../contract/kinds.ts";
import { freePort } from "../free-port.ts";
import { until } from "../until.ts";
import { bridgeTo, recordingLog } from "./bridged.ts";
import { type Mosquitto, startMosquitto, subscribeAt } from "./mosquitto.ts";
import { startOldBroker } from "./old-broker.ts";
import { retainedAt } from "./retained.ts";

// depends on: src/**

const cleanup: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of cleanup.splice(0).toReversed()) await close();
});

async function broker(): Promise<Mosquitto> {
  const mosquitto = await startMosquitto();
  cleanup.push(() => mosquitto.stop());
  return mosquitto;
}

async function listening(url: string, filters?: readonly string[]) {
  const listener = await subscribeAt(url, filters);
  cleanup.push(() => listener.close());
  return listener;
}

const isAbout =
  (topic: string, payload: string) =>
  (heard: { readonly topic: string; readonly payload: string }): boolean =>
    heard.topic === topic && heard.payload === payload;
const isOnline = isAbout("rigbridge/bridge/state", "online");
const isOffline = isAbout("rigbridge/bridge/state", "offline");

describe("two bridges with one base", () => {
  let opened: Opened;
  let other: Opened;
  beforeAll(async () => {
    const [own] = kinds;
    if (own === undefined) throw new Error("there is no kind");
    [opened, other] = await Promise.all([own.open(), own.open()]);
  });
  afterAll(async () => {
    await opened.close();
    await other.close();
  });

  const delays = { quietMs: 100, takeOverMs: 300, silenceMs: 180_000, noticeMs: 200 };
  type Options = Parameters<typeof bridgeTo>[2];
  const bridged = async (service: MiningService, url: string, options: Options = {}, clientId = "rigbridge") => {
    const bridge = await bridgeTo(service, { url, clientId }, { claimDelays: delays, ...options });
    cleanup.push(() => bridge.close());
    return bridge;
  };

  const cases = ([5, 4] as const).flatMap((version) =>
    ["rigbridge", "another"].map((clientId) => ({ version, clientId })),
  );
  test.each(cases)(
    "the second waits without a word, and takes over when the first ends (MQTT $version, client id $clientId)",
    async ({ version, clientId }) => {
      const mosquitto = await broker();
      const { url } = mosquitto;
      let place = url;
      if (version === 4) {
        const old = await startOldBroker(mosquitto.port);
        cleanup.push(() => old.close());
        place = old.url;
      }
      const listener = await listening(url);
      const first = await bridged(opened.service, place);
      await listener.until(isOnline);
      // The first of them comes before the lists are read if these are slow, and has no operations.
      const info = await listener.until(
        ({ topic, payload }) => topic === "rigbridge/bridge/info" && JSON.parse(payload).operations.length > 0,
      );
      const from = listener.received.length;
      const { log, lines } = recordingLog();
      const second = await bridged(other.service, place, { log }, clientId);
      await until(() => second.status.state === "waiting", "the second to wait");
      expect(lines.filter(({ level }) => level >= 40).map(({ msg }) => msg)).toEqual([
        expect.stringMatching(
          /^Another Rigbridge on .+ publishes the same MQTT topics .*mqtt\.base and mqtt\.clientId$/,
        ),
      ]);
      await until(() => first.status.detail !== null, "the first to know of the second");
      expect(first.status).toEqual({ state: "connected", detail: expect.stringMatching(/^Another Rigbridge waits/) });
      expect(listener.received.slice(from).filter(isOffline)).toEqual([]);
      expect((await retainedAt(url)).get("rigbridge/bridge/info")).toBe(info.payload);

      await first.close();
      const ended = listener.received.length;
      await listener.until(isOnline, from);
      await until(() => second.status.state === "connected", "the second to take over");
      expect(second.status.detail).toBeNull();
      const later = await listener.until(({ topic }) => topic === "rigbridge/bridge/info", from);
      expect(later.payload).not.toBe(info.payload);

      // Who lost comes back when the other leaves.
      const third = await bridged(opened.service, place);
      await until(() => third.status.state === "waiting", "the first to wait, started again");
      await second.close();
      await until(() => third.status.state === "connected", "the first to have the topics again");
      await listener.until(isOnline, ended);
    },
  );

  test("of two that begin at once one waits, whatever order their messages come in", async () => {
    const { url } = await broker();
    const both = await Promise.all([bridged(opened.service, url, {}, "one"), bridged(other.service, url, {}, "two")]);
    const states = () => both.map(({ status }) => status.state).toSorted();
    await until(() => `${states()}` === "connected,waiting", "one of them to wait");
    const all = await retainedAt(url);
    expect(all.get("rigbridge/bridge/state")).toBe("online");
  });

  test("one that is cut off finds its place taken, waits, and gets it back", async () => {
    const { url } = await broker();
    const listener = await listening(url, ["rigbridge/bridge/#"]);
    const first = await bridged(opened.service, url);
    await listener.until(isOnline);
    const second = await bridged(other.service, url);
    await until(() => second.status.state === "waiting", "the second to wait");
    // Another client with its id makes the broker end its connection, and publish its will.
    const intruder = await subscribeAt(url, ["nothing"], { clientId: "rigbridge", reconnectPeriod: 0 });
    cleanup.push(() => intruder.close());
    await listener.until(isOffline);
    await until(() => [first, second].some(({ status }) => status.state === "connected"), "one to have the topics");
    await until(() => [first, second].some(({ status }) => status.state === "waiting"), "the other to wait");
    await until(() => listener.last("rigbridge/bridge/state") === "online", "the bridge to be online");
  });

  test("after an outage of the broker the first one has the topics again", async () => {
    const mosquitto = await broker();
    const slow = { ...delays, takeOverMs: 5_000 };
    const first = await bridged(opened.service, mosquitto.url, { claimDelays: slow });
    await until(() => first.status.state === "connected", "the first to connect");
    const second = await bridged(other.service, mosquitto.url, { claimDelays: slow });
    await until(() => second.status.state === "waiting", "the second to wait");
    await mosquitto.kill();
    await until(() => first.status.state === "disconnected", "the first to notice");
    await until(() => second.status.state === "disconnected", "the second to notice");
    await mosquitto.start();
    await until(() => first.status.state === "connected", "the first to connect again");
    await until(() => second.status.state === "waiting", "the second to wait again");
    expect(first.status.state).toBe("connected");
  });

  test("one that was killed does not wait for itself", async () => {
    const { url } = await broker();
    const folder = mkdtempSync(join(tmpdir(), "rigbridge-claim-"));
    cleanup.push(() => rmSync(folder, { recursive: true }));
    const instanceFile = join(folder, "rigbridge-instance");
    const first = await bridged(opened.service, url, { instanceFile });
    const listener = await listening(url, ["rigbridge/bridge/#"]);
    await listener.until(isOnline);
    const info = await listener.until(({ topic }) => topic === "rigbridge/bridge/info");
    await first.close();
    await listener.until(isOffline);
    // As after a power cut, before the broker has noticed.
    await listener.publish("rigbridge/bridge/state", "online", { retain: true });
    await listener.publish("rigbridge/bridge/info", info.payload, { retain: true });
    const again = await bridged(opened.service, url, { instanceFile });
    await until(() => again.status.state === "connected", "the bridge to connect");
    const stranger = await bridged(other.service, url);
    await until(() => stranger.status.state === "waiting", "another one to wait");
  });

  describe("of services that share a store", () => {
    const pairAt = (epoch: number) => {
      let kept: unknown;
      const units = {
        name: "the store",
        read: async () => kept,
        write: async (chosen: unknown) => {
          kept = chosen;
        },
      };
      return { instance: "barn", epoch, units };
    };
    const epochs = async (listener: Awaited<ReturnType<typeof listening>>) =>
      listener.received
        .filter(({ topic }) => topic === "rigbridge/bridge/info")
        .map(({ payload }) => JSON.parse(payload).epoch);

    test("the one with the lease takes the topics at once, though the other is still online there", async () => {
      const { url } = await broker();
      const listener = await listening(url, ["rigbridge/bridge/#"]);
      const first = await bridged(opened.service, url, { pair: pairAt(1) });
      await listener.until(isOnline);
      const second = await bridged(other.service, url, { pair: pairAt(2) });
      await until(() => second.status.state === "connected", "the second to have the topics");
      // The first was stopped, does not know yet that it has lost the lease, and gives way.
      await until(() => first.status.state !== "connected", "the first to give way");
      await until(async () => (await epochs(listener)).at(-1) === 2, "the second to have the last word");
      const stranger = await bridged(other.service, url, {}, "another");
      await until(() => stranger.status.state === "waiting", "another installation to wait");
      expect(second.status.state).toBe("connected");
    });

    test("the next one publishes only what differs from what the broker has, and what it has lost", async () => {
      const { url } = await broker();
      const first = await bridged(opened.service, url, { pair: pairAt(1) });
      const isOn = ([topic, payload]: readonly [string, string]): boolean => isWord(topic) && payload === "online";
      const isWord = (topic: string): boolean => /^rigbridge\/miner\/[^/]+\/availability$/.test(topic);
      const hasAll = async (): Promise<boolean> => {
        const topics = [...(await retainedAt(url)).keys()];
        const count = (pattern: RegExp): number => topics.filter((topic) => pattern.test(topic)).length;
        const [words, groups] = [topics.filter(isWord).length, count(/^rigbridge\/group\/\d+\/state$/)];
        // Besides these, the farm and the bridge are announced.
        return words >= 2 && count(/^homeassistant\/device\//) >= words + groups + 2;
      };
      await until(hasAll, "the first to have published");
      await first.close();
      const listener = await listening(url);
      const [lost = ""] = [...(await retainedAt(url))].find(isOn) ?? [];
      await listener.publish(lost, "", { retain: true });
      await until(() => listener.received.some(({ topic, payload }) => topic === lost && payload === ""), "its loss");
      const last = new Map<string, string>();
      const changes = (): { readonly topic: string; readonly isNew: boolean }[] => {
        last.clear();
        return listener.received.flatMap(({ topic, payload, retained }) => {
          const isNew = last.get(topic) !== payload;
          last.set(topic, payload);
          return retained || /^rigbridge\/bridge|\/event$/.test(topic) ? [] : [{ topic, isNew }];
        });
      };
      await bridged(opened.service, url, { pair: pairAt(2) });
      await listener.until(
        ({ topic, payload }) => topic === "rigbridge/bridge/info" && JSON.parse(payload).epoch === 2,
      );
      await until(() => changes().some(({ topic }) => topic === lost && last.get(lost) === "online"), "its return");
      const published = changes();
      expect(published.filter(({ isNew }) => !isNew)).toEqual([]);
      expect(published.filter(({ topic }) => isWord(topic) && topic !== lost)).toEqual([]);
      expect(published.filter(({ topic }) => topic.startsWith("homeassistant/"))).toEqual([]);
    });

    test("hash rates keep their units with the next one", async () => {
      const { url } = await broker();
      const listener = await listening(url);
      const pair = pairAt(1);
      await pair.units.write({ farm: "kH/s" });
      await bridged(opened.service, url, { pair });
      const { payload } = await listener.until(({ topic }) => topic === "rigbridge/summary");
      const { hashrate, hashrate_display } = JSON.parse(payload);
      expect(hashrate_display).toBe(Math.round(hashrate / 1000));
    });
  });

  test("one that ended without a will is not waited for longer than it is silent", async () => {
    const { url } = await broker();
    const listener = await listening(url, ["rigbridge/bridge/#"]);
    const ghost = { instance: "ghost", host: "attic", started: "2026-01-01T00:00:00.000Z" };
    await listener.publish("rigbridge/bridge/state", "online", { retain: true });
    await listener.publish("rigbridge/bridge/info", JSON.stringify(ghost), { retain: true });
    const bridge = await bridged(opened.service, url, { claimDelays: { ...delays, silenceMs: 1_000 } });
    await until(() => bridge.status.state === "waiting", "the bridge to wait");
    await until(() => bridge.status.state === "connected", "the bridge to take the topics");
  });
});

test("two services with one configuration: the second waits, both say so, and each gets its turn", async () => {
  const { url } = await broker();
  const farm = await startFarm({
    rigs: [
      { kind: "axeos", warm: true },
      { kind: "axeos", warm: true },
    ],
  });
  cleanup.push(() => farm.close());
  const listener = await listening(url);
  const serviceOf = async (index: number) => {
    const folder = mkdtempSync(join(tmpdir(), "rigbridge-second-"));
    cleanup.push(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "rigbridge.yaml");
    const port = await freePort();
    const miners = `miners:\n  - address: ${farm.rigs[index]?.address}\n`;
    const places = `http: { port: ${port}, announce: false }\nstore: { url: ${folder}/rigbridge.db }\n`;
    writeFileSync(file, `${places}mqtt: { url: "${url}" }\n${miners}`);
    const at = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
    return {
      start: async () => {
        const process = await running(["serve", "--config", file], /Rigbridge/);
        cleanup.push(() => process.signal("SIGKILL"));
        return process;
      },
      mqtt: async () => (await (await at("/health")).json()).mqtt,
      conflict: async () => /^rigbridge_mqtt_conflict (\d)$/m.exec(await (await at("/metrics")).text())?.[1],
      warnings: async () => {
        const { notificationList } = await (await at("/api/notifications")).json();
        return notificationList
          .filter(({ title }: { title: string }) => title === "MQTT topics in use")
          .map(({ isAcknowledged }: { isAcknowledged: boolean }) => isAcknowledged);
      },
    };
  };
  const [one, two] = [await serviceOf(0), await serviceOf(1)];
  const stateOf = async ({ mqtt }: typeof one): Promise<string> => (await mqtt()).state;

  const first = await one.start();
  const config = /^homeassistant\/device\/rigbridge_miner_.+\/config$/;
  const device = await listener.until(({ topic }) => config.test(topic));
  await listener.until(isOnline);
  const from = listener.received.length;
  let second = await two.start();
  await until(async () => (await stateOf(two)) === "waiting", "the second service to wait");
  await until(async () => (await one.mqtt()).detail !== null, "the first service to know of it");
  expect(await one.mqtt()).toMatchObject({ state: "connected", detail: expect.stringContaining("waits") });
  for (const each of [one, two]) {
    expect(await each.conflict()).toBe("1");
    expect(await each.warnings()).toEqual([false]);
  }
  second.signal("SIGTERM");
  await second.ended;
  await until(async () => (await one.mqtt()).detail === null, "the first service to be alone");
  expect([await one.conflict(), await one.warnings()]).toEqual(["0", [true]]);
  // Nothing of the first was taken away or said to be off.
  expect(listener.received.slice(from).filter(isOffline)).toEqual([]);
  expect(listener.received.filter(({ topic, payload }) => topic === device.topic && payload === "")).toEqual([]);

  second = await two.start();
  await until(async () => (await stateOf(two)) === "waiting", "the second service to wait again");
  expect(await two.warnings()).toEqual([false]);
  first.signal("SIGKILL");
  await first.ended;
  const killed = listener.received.length;
  const killedAt = performance.now();
  await one.start();
  const states = async () => Promise.all([one, two].map(stateOf));
  await until(async () => (await states()).includes("connected"), "one service to publish again after a kill");
  await listener.until(isOnline, killed);
  await until(async () => (await states()).includes("waiting"), "the other to wait");
  // Where a start takes longer than that, the second has taken the topics meanwhile.
  if (performance.now() - killedAt < claimDelays.takeOverMs) expect(await states()).toEqual(["connected", "waiting"]);
  expect(listener.received.filter(({ topic, payload }) => topic === device.topic && payload === "")).toEqual([]);
});
