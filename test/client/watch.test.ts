import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, test } from "@jest/globals";
import { connectService } from "../../src/client/index.ts";
import type { RowEvent } from "../../src/contract/events.ts";
import { minersIn } from "../../src/contract/miners-in.ts";
import type { MiningService } from "../../src/contract/service.ts";
import { startTwin } from "../../src/simulator/index.ts";
import { freePort } from "../free-port.ts";
import { until, within } from "../until.ts";
import { answering, closeServers, sendJson } from "./servers.ts";
import { isType, watching } from "./watching.ts";

const caller = { actor: "test" };
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
  await closeServers();
});

const summary = {
  runningCount: 1,
  totalCount: 1,
  gpuCount: 0,
  pgaCount: 0,
  asicCount: 1,
  exchangeRate: "0",
  revenuePerDay: "0",
  revenuePerMonth: "0",
  coinList: [],
  algorithmList: [],
  metaData: { updated: "", edition: "", version: "", infoList: [], warningList: [] },
};

/** A Rigbridge that sends what a test writes, and knows behind which event each connection asked to go on. */
async function eventServer(begin: (stream: ServerResponse, connection: number) => void, port = 0) {
  const resumed: (string | undefined)[] = [];
  const server = await answering((request, response) => {
    if (request.url === "/openapi.json")
      return sendJson(response, {
        info: { "x-rigbridge": true },
        paths: {
          "/api/events": { get: { operationId: "watchEvents" } },
          "/x": { get: { operationId: "fromTheFuture" } },
        },
      });
    if (request.url !== "/api/events") return sendJson(response, {}, 404);
    const after = request.headers["last-event-id"];
    resumed.push(typeof after === "string" ? after : undefined);
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    response.flushHeaders();
    begin(response, resumed.length);
  }, port);
  return { ...server, resumed };
}

const send = (stream: ServerResponse, id: number, type: string, data: unknown) =>
  stream.write(`id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`);

function watched(url: string, after?: number) {
  const service = connectService({ url, poll: 0.15 });
  const watch = watching(service, caller, after);
  ends.push(async () => {
    await watch.end();
    await service.close();
  });
  return { service, watch };
}

describe("a Rigbridge's own events", () => {
  test("come as they are; those of a kind that is not known are left out", async () => {
    const { url } = await eventServer((stream) => {
      stream.write(": comment\n\n");
      send(stream, 5, "from-the-future", { a: 1 });
      send(stream, 6, "summary", { ...summary, more: 1 });
    });
    expect(await watched(url).watch.next()).toEqual({ id: 6, type: "summary", data: summary });
  });

  test("go on behind the last one after the stream broke off", async () => {
    const { url, resumed } = await eventServer((stream, connection) => {
      send(stream, connection * 10, "summary", summary);
      if (connection < 3) stream.end();
    });
    const { watch } = watched(url, 4);
    expect([(await watch.next()).id, (await watch.next()).id, (await watch.next()).id]).toEqual([10, 20, 30]);
    expect(resumed).toEqual(["4", "10", "20"]);
  });

  test("an event that cannot be read causes a reset", async () => {
    const { url } = await eventServer((stream) => send(stream, 1, "summary", { totalCount: "many" }));
    expect(await watched(url).watch.next()).toMatchObject({ type: "reset" });
  });

  test("an event without an end is cut off, and causes a reset on the next connection", async () => {
    const { url, resumed } = await eventServer((stream, connection) => {
      if (connection > 1) return;
      send(stream, 3, "summary", summary);
      stream.write(`id: 4\nevent: miner\ndata: "${"x".repeat(5_000_000)}`);
    });
    const { watch } = watched(url);
    expect(await watch.next()).toMatchObject({ id: 3 });
    expect(await watch.next()).toMatchObject({ type: "reset" });
    expect(resumed).toEqual([undefined, "3"]);
  });

  test("a wrong key ends each watch, and the service is logged only once", async () => {
    const { url } = await answering((request, response) => {
      if (request.url === "/openapi.json")
        return sendJson(response, {
          info: { "x-rigbridge": true },
          paths: { "/api/events": { get: { operationId: "watchEvents" } } },
        });
      response.writeHead(401, { "content-type": "application/problem+json" });
      response.end(JSON.stringify({ type: "urn:rigbridge:problem:key.wrong", code: "key.wrong", detail: "Wrong" }));
    });
    const said: unknown[] = [];
    const log = { info: (_: unknown, message?: string) => said.push(message), warn: () => {} };
    const service = connectService({ url, key: "an-invented-wrong-key", log });
    for (let tries = 0; tries < 2; tries += 1) {
      const events = service.watchEvents({}, caller, new AbortController().signal)[Symbol.asyncIterator]();
      await expect(events.next()).rejects.toMatchObject({ code: "key.wrong", message: "Wrong" });
    }
    expect(said).toEqual(["a mining service answers"]);
    await service.close();
  });
});

test("a server whose events are silent is asked whether it still answers", async () => {
  let asked = 0;
  const { url } = await answering((request, response) => {
    if (request.url === "/openapi.json")
      return sendJson(response, {
        info: { "x-rigbridge": true },
        paths: {
          "/api/events": { get: { operationId: "watchEvents" } },
          "/api/summary": { get: { operationId: "getSummary" } },
        },
      });
    if (request.url === "/api/summary") {
      asked += 1;
      return sendJson(response, summary);
    }
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    response.flushHeaders();
  });
  const reached: unknown[] = [];
  const service = connectService({ url, poll: 0.05 });
  const over = new AbortController();
  const events = service.watchEvents({}, caller, over.signal, (error) => reached.push(error))[Symbol.asyncIterator]();
  const ended = events.next();
  await until(() => asked > 2, "three questions");
  over.abort();
  await ended;
  await service.close();
  expect(reached).toEqual([]);
});

test("after its end a watch gives no event, also of those that arrived together", async () => {
  const { url } = await eventServer((stream) => {
    const events = [1, 2, 3].map(
      (id) => `id: ${id}\nevent: miner-removed\ndata: ${JSON.stringify({ id, uid: null })}\n\n`,
    );
    stream.write(events.join(""));
  });
  const service = connectService({ url });
  const over = new AbortController();
  const seen: number[] = [];
  for await (const { id } of service.watchEvents({}, caller, over.signal)) {
    seen.push(id);
    over.abort();
  }
  await service.close();
  expect(seen).toEqual([1]);
});

describe("a server without events is compared with how it was", () => {
  async function twinWatched() {
    let passed = 0;
    const start = Date.now();
    // Only what a test lets pass: readings stand still.
    const clock = () => start + passed;
    const twin = await startTwin({ miners: 4, clock });
    ends.push(() => twin.close());
    const { service, watch } = watched(twin.url);
    return {
      twin,
      service,
      watch,
      pass: (seconds: number) => {
        passed += seconds * 1000;
      },
    };
  }

  test("between the list and the watch nothing is lost: new, changed and removed miners", async () => {
    const { twin, service, watch } = await twinWatched();
    const before = minersIn((await service.listMiners({}, caller)).groupList);
    const added = twin.addMiner();
    const [first] = before;
    twin.removeMiner(first?.id ?? 0);
    expect(await watch.next()).toMatchObject({ type: "miner-removed", data: { id: first?.id, uid: first?.uid } });
    expect(await watch.next()).toMatchObject({ type: "miner", data: { id: added.id } });
  });

  test("new notifications and a changed summary are sent", async () => {
    const { service, watch, twin, pass } = await twinWatched();
    await service.listNotifications({}, caller);
    await service.getSummary({}, caller);
    const miner = twin.miners.find(({ online }) => online);
    miner?.switchOff();
    pass(120);
    expect((await watch.until(isType("notification"), "the notification of the lost miner")).data.minerName).toBe(
      miner?.name,
    );
    expect((await watch.until(isType("summary"), "the summary without that miner")).data.totalCount).toBe(
      twin.miners.length,
    );
  });

  test("notifications that were acknowledged or cleared meanwhile are sent by their ids", async () => {
    const { service, watch, twin, pass } = await twinWatched();
    await service.listNotifications({}, caller);
    twin.miners.find(({ online }) => online)?.switchOff();
    pass(120);
    const { data } = await watch.until(isType("notification"), "the notification of the lost miner");
    await service.notificationAction({ id: data.id, action: "ack" }, caller);
    const acknowledged = await watch.until(isType("notification-acknowledged"), "its acknowledgement");
    expect(acknowledged.data.ids).toEqual([data.id]);
    await service.notificationAction({ id: data.id, action: "clear" }, caller);
    expect((await watch.until(isType("notification-removed"), "its removal")).data.ids).toEqual([data.id]);
  });

  describe("of two readers with one caller, one that lists before the other watches", () => {
    /** The next event of rows after a list that is this. */
    async function rowEvent(service: MiningService, after: string, is: (event: RowEvent) => boolean) {
      const over = new AbortController();
      const events = service.watchMinerRows({ view: "list", after }, caller, over.signal);
      const first = async () => {
        for await (const event of events) if (is(event)) return event;
        throw new Error("the watch has ended");
      };
      try {
        return await within(first(), "the event");
      } finally {
        over.abort();
      }
    }

    test("hides nothing of its changes: miners, notifications and summary", async () => {
      const { twin, service, pass } = await twinWatched();
      const readAll = async () => {
        await service.listNotifications({}, caller);
        await service.getSummary({}, caller);
        return (await service.listMinerRows({ view: "list" }, caller)).version;
      };
      const version = await readAll();
      const [lost, gone] = twin.miners.filter(({ online }) => online);
      lost?.switchOff();
      pass(120);
      const added = twin.addMiner();
      twin.removeMiner(gone?.id ?? 0);
      await readAll();
      const sent: RowEvent[] = [];
      await rowEvent(service, version, (event) => {
        sent.push(event);
        return event.type === "summary";
      });
      const ids = sent.map((event) => [event.type, "id" in event.data ? event.data.id : null]);
      expect(ids).toContainEqual(["miner", added.id]);
      expect(ids).toContainEqual(["miner", lost?.id]);
      expect(ids).toContainEqual(["miner-removed", gone?.id]);
      expect(sent.filter(({ type }) => type === "notification")).not.toEqual([]);
    });

    test("again and again, so that a list is no longer kept, brings a reset", async () => {
      const { service } = await twinWatched();
      const { version } = await service.listMinerRows({ view: "list" }, caller);
      for (let list = 0; list < 20; list += 1) await service.listMinerRows({ view: "list" }, caller);
      expect((await rowEvent(service, version, () => true)).type).toBe("reset");
    });
  });

  test("a resuming watcher gets a reset, since earlier events are not kept", async () => {
    const { twin } = await twinWatched();
    expect(await watched(twin.url, 77).watch.next()).toMatchObject({ type: "reset" });
  });
});

test("while the server is away its miners are out of reach, and back when it is back", async () => {
  const clock = () => 1_790_000_000_000;
  const port = await freePort();
  const first = await startTwin({ miners: 4, clock, port });
  const { service, watch } = watched(first.url);
  const miners = minersIn((await service.listMiners({}, caller)).groupList);
  const mining = miners.filter(({ isRunning }) => isRunning);
  expect(mining.length).toBeGreaterThan(0);
  await first.close();
  const gone = [];
  for (const _ of miners) gone.push(await watch.until(isType("miner"), "every miner to be out of reach"));
  expect(gone.map(({ data }) => data.id).toSorted()).toEqual(miners.map(({ id }) => id).toSorted());
  for (const { data } of gone) {
    expect(data).toMatchObject({ isOffline: true, isRunning: false, speedInfo: { hashrateValue: 0 } });
    expect(data.readings).toMatchObject({ stale: true, hashrate: null, power: null, temperature: null, uptime: null });
    expect(data.controls.every(({ value }) => value === null)).toBe(true);
    expect(data.readings.boards).toHaveLength(miners.find(({ id }) => id === data.id)?.readings.boards.length ?? -1);
  }
  const second = await startTwin({ miners: 4, clock, port });
  ends.push(() => second.close());
  const back = [];
  for (const _ of mining) back.push((await watch.until(isType("miner"), "every miner to be back")).data);
  expect(back.every(({ isRunning, readings }) => isRunning && (readings.hashrate ?? 0) > 0)).toBe(true);
});

test("a server that is replaced by one of another kind causes a reset", async () => {
  const port = await freePort();
  const twin = await startTwin({ miners: 2, port });
  const { service, watch } = watched(twin.url);
  await service.listMiners({}, caller);
  await service.getSummary({}, caller);
  const told = watch.until(isType("reset"), "the reset by the other kind of server");
  await twin.close();
  await eventServer(() => {}, port);
  expect((await told).data).toEqual({});
});
