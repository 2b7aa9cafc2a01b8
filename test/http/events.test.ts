import { type IncomingMessage, request } from "node:http";
import { afterEach, describe, expect, test } from "@jest/globals";
import { createParser } from "eventsource-parser";
import { pino } from "pino";
import { HttpSettings } from "../../src/config/schema.ts";
import { ServiceEvent } from "../../src/contract/events.ts";
import { RigbridgeError } from "../../src/contract/problems.ts";
import type { Caller, EncodedEvent, Input, MiningService } from "../../src/contract/service.ts";
import { type HttpLimits, httpLimits } from "../../src/http/limits.ts";
import { type HttpServer, startHttpServer } from "../../src/http/server.ts";
import type { CurrentMiner } from "../../src/service/events/event-ring.ts";
import { type EventLimits, Events, eventLimits } from "../../src/service/events/events.ts";
import type { EventView } from "../../src/service/events/subscriber.ts";
import { AccessBook } from "../../src/service/users/access.ts";
import { openStore } from "../../src/store/index.ts";
import { off } from "../homebridge/miners.ts";
import { caller, closeBenches, openBench } from "../service/bench.ts";
import { until, within } from "../until.ts";
import { stub } from "./stub.ts";
import { open as connect } from "./wire.ts";

interface Message {
  readonly type: string | undefined;
  readonly id: string | undefined;
  readonly data: unknown;
}

/** A client of the stream, as a browser is one. */
interface Client {
  readonly response: IncomingMessage;
  readonly messages: Message[];
  readonly comments: number;
  readonly retry: number;
  readonly ended: boolean;
  /** Without summaries, as text. */
  readonly seen: string[];
  /** Where it would resume. */
  readonly lastId: string | undefined;
  leave(): void;
}

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  await closeBenches();
});

function watch(url: string, path = "/api/events", headers: Record<string, string> = {}): Promise<Client> {
  const begun = new Promise<Client>((resolve, reject) => {
    const asked = request(`${url}${path}`, { headers, agent: false }, (response) => {
      const state = { comments: 0, retry: 0, ended: false };
      const messages: Message[] = [];
      const parser = createParser({
        onEvent: ({ event, id, data }) => messages.push({ type: event, id, data: JSON.parse(data) }),
        onComment: () => {
          state.comments += 1;
        },
        onRetry: (retry) => {
          state.retry = retry;
        },
      });
      response.setEncoding("utf8").on("data", (text: string) => parser.feed(text));
      for (const end of ["end", "error", "close"] as const)
        response.on(end, () => {
          state.ended = true;
        });
      closers.push(() => {
        asked.destroy();
      });
      resolve({
        response,
        messages,
        get comments() {
          return state.comments;
        },
        get retry() {
          return state.retry;
        },
        get ended() {
          return state.ended;
        },
        get seen() {
          return messages.filter(({ type }) => type !== "summary").map((each) => JSON.stringify(each));
        },
        get lastId() {
          return messages.at(-1)?.id;
        },
        leave: () => asked.destroy(),
      });
    });
    asked.on("error", reject).end();
  });
  return within(begun, "the stream of events to begin");
}

async function serve(service: MiningService, limits: Partial<HttpLimits> = {}) {
  const logged: string[] = [];
  const server: HttpServer = await startHttpServer({
    service,
    settings: HttpSettings.parse({ port: 0 }),
    log: pino({ level: "trace" }, { write: (line: string) => logged.push(line) }),
    version: "1.2.3",
    limits: { ...httpLimits, ...limits },
  });
  closers.push(() => server.close());
  return { url: server.url, port: server.address.port, server, logged };
}

/** Events without a farm behind them. */
async function serveEvents(limits: Partial<HttpLimits> = {}, eventing: Partial<EventLimits> = {}) {
  const store = await openStore({ file: ":memory:", now: Date.now });
  closers.push(() => store.close());
  const accessBook = new AccessBook(store);
  const told = new Map<number, CurrentMiner>();
  const view: EventView = {
    accessOf: (caller) => accessBook.of(caller),
    sees: () => true,
    seesNotification: () => true,
    current: (id) => told.get(id),
    row: () => undefined,
    summaryFor: async () => Promise.reject(new RigbridgeError("internal", "no summary here")),
  };
  const events = new Events({
    now: Date.now,
    limits: { ...eventLimits, summaryIntervalMs: 3_600_000, intervalMs: 1, ...eventing },
  });
  closers.push(() => events.close());
  const service: MiningService = {
    ...stub().service,
    encodedEvents: (input: Input<"watchEvents">, who: Caller, signal: AbortSignal) =>
      events.encoded(view, input, who, signal),
  };
  /** A change of a miner that has not changed before: one that changes again is sent once. */
  const tell = (id: number, pad = 0): void => {
    const json = Buffer.from(JSON.stringify({ id, pad: "x".repeat(pad) }));
    told.set(id, { miner: off({ id, groupId: 0 }), json });
    events.miner({ id, uid: null, groupId: 0 }, 0);
  };
  return { ...(await serve(service, limits)), events, tell };
}

describe("the stream of events", () => {
  test("is a stream as browsers read it, neither kept nor compressed", async () => {
    const { url, tell } = await serveEvents();
    const client = await watch(url, "/api/events", { "accept-encoding": "gzip, br" });
    expect(client.response.statusCode).toBe(200);
    expect(client.response.headers).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
      "x-content-type-options": "nosniff",
    });
    expect(client.response.headers["content-encoding"]).toBeUndefined();
    for (let id = 0; id < 2_000; id += 1) tell(id);
    await until(() => client.messages.length === 2_000, "all 2,000 events to arrive");
    expect(client.messages.map(({ type, data }) => [type, data])).toEqual(
      Array.from({ length: 2_000 }, (_, id) => ["miner", { id, pad: "" }]),
    );
    expect([client.retry > 0, client.ended]).toEqual([true, false]);
  });

  test("has a comment now and then, and outlives the deadlines of other requests", async () => {
    const { url, tell } = await serveEvents({
      eventCommentInterval: 20,
      requestTimeout: 600,
      headersTimeout: 500,
      keepAliveTimeout: 400,
      checkInterval: 10,
    });
    const client = await watch(url);
    await until(() => client.comments > 50, "comments to arrive for a second");
    tell(1);
    await until(() => client.messages.length === 1, "the event after the deadlines to arrive");
    expect(client.ended).toBe(false);
  });

  test("has only a head for HEAD", async () => {
    const { url, events } = await serveEvents();
    const response = await fetch(`${url}/api/events`, { method: "HEAD" });
    expect([response.status, response.headers.get("content-type"), await response.text()]).toEqual([
      200,
      "text/event-stream; charset=utf-8",
      "",
    ]);
    expect(events.subscribers).toBe(0);
  });

  test.each<[string, Record<string, string>, string]>([
    ["?after=x", {}, "after"],
    ["?after=1&after=2", {}, "after"],
    ["?after=-1", {}, "after"],
    ["", { "last-event-id": "1.5" }, "Last-Event-ID"],
    ["?after=1", { "last-event-id": "" }, "Last-Event-ID"],
    ["", { "last-event-id": "1234567890123456" }, "Last-Event-ID"],
  ])("is refused for %s %j", async (query, headers, path) => {
    const { url, events } = await serveEvents();
    const response = await fetch(`${url}/api/events${query}`, { headers });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { code: "input.invalid", errors: [{ path }] },
    ]);
    expect(events.subscribers).toBe(0);
  });

  test("resumes after Last-Event-ID, which overrides the query", async () => {
    const { url, tell } = await serveEvents();
    const first = await watch(url);
    for (let id = 0; id < 5; id += 1) tell(id);
    await until(() => first.messages.length === 5, "the first client's five events to arrive");
    const [one, , three] = first.messages.map(({ id }) => id ?? "");
    const byQuery = await watch(url, `/api/events?after=${one}`);
    const byHeader = await watch(url, `/api/events?after=${one}`, { "last-event-id": three ?? "" });
    await until(
      () => byQuery.messages.length === 4 && byHeader.messages.length === 2,
      "both resumed clients to catch up",
    );
    expect(byQuery.messages).toEqual(first.messages.slice(1));
    expect(byHeader.messages).toEqual(first.messages.slice(3));
  });

  test("is for so many at once, and free again when they have gone", async () => {
    const { url, events, logged } = await serveEvents({ eventStreams: 2, eventStreamsOfOwner: 0 });
    const clients = [await watch(url), await watch(url)];
    const refused = await fetch(`${url}/api/events`);
    expect([refused.status, refused.headers.get("retry-after"), await refused.json()]).toMatchObject([
      503,
      "10",
      { code: "service.not-ready" },
    ]);
    for (const client of clients) client.leave();
    await until(() => events.subscribers === 0, "both streams to be free again");
    const next = await watch(url);
    expect(next.response.statusCode).toBe(200);
    await until(
      () => logged.filter((line) => line.includes('"status":200')).length === 2,
      "both streams to be in the log",
    );
  });

  test("ends at once when the server closes, even if the client does not read", async () => {
    const { url, port, server, events, tell } = await serveEvents({ closeTimeout: 3_600_000 });
    const client = await watch(url);
    const stuck = connect(port);
    stuck.write("GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await until(() => events.subscribers === 2, "both clients to be listening");
    stuck.pause();
    // More than sockets take by themselves.
    for (let id = 0; id < 400; id += 1) tell(id, 50_000);
    await until(() => client.messages.length === 400, "the reading client to get all events");
    await server.close();
    await until(() => client.ended && events.subscribers === 0, "every stream to end with the server");
    stuck.destroy();
  });

  test("ends when the key that opened it is no longer the user's", async () => {
    const { service } = await openBench({ config: { users: [{ name: "anna", key: "annas-own-key-16chars" }] } });
    let isHers = true;
    const { keyHolder } = service;
    const forgetful: MiningService = {
      ...service,
      keyHolder: (digest) => (isHers ? keyHolder?.(digest) : undefined),
    };
    const { url } = await serve(forgetful, { eventCommentInterval: 20 });
    const client = await watch(url, "/api/events", { "x-api-key": "annas-own-key-16chars" });
    await until(() => client.comments > 0, "the first comment to arrive");
    expect(client.ended).toBe(false);
    isHers = false;
    await until(() => client.ended, "the stream to end with its key");
  });

  test("of a service without ready-made bytes is the same", async () => {
    const service: MiningService = {
      ...stub().service,
      async *watchEvents() {
        yield { id: 7, type: "miner-removed", data: { id: 3, uid: null } };
        throw new RigbridgeError("service.unreachable", "gone");
      },
    };
    const { url } = await serve(service);
    const client = await watch(url);
    await until(() => client.ended, "the stream to end");
    expect(client.messages).toEqual([{ type: "miner-removed", id: "7", data: { id: 3, uid: null } }]);
  });

  test("that fails with an internal error ends, and the log has the error", async () => {
    const service: MiningService = {
      ...stub().service,
      async *encodedEvents(): AsyncGenerator<readonly EncodedEvent[]> {
        yield [{ id: 1, type: "reset", json: Buffer.from("{}") }];
        throw new TypeError("broken");
      },
    };
    const { url, logged } = await serve(service);
    const client = await watch(url);
    await until(
      () => client.ended && logged.some((line) => line.includes("broken")),
      "the broken stream to end and be logged",
    );
    expect(client.messages).toHaveLength(1);
  });
});

describe("clients", () => {
  test("that lag are cut, that vanish are forgotten, and together with what they resume they miss nothing", async () => {
    const { url, events, tell } = await serveEvents({}, { lag: 300, batch: 32 });
    const stayed = await watch(url);
    const slow = await watch(url);
    const flighty = await watch(url);
    tell(0);
    await until(
      () => flighty.messages.length === 1 && slow.messages.length === 1,
      "two clients to hear the first event",
    );
    slow.response.pause();
    let told = 1;
    const tellSome = async (some: number, pad: number): Promise<void> => {
      for (let each = 0; each < some; each += 1, told += 1) tell(told, pad);
      await until(() => stayed.messages.length === told, "the client that stayed to catch up");
    };
    const visits: Client[] = [flighty];
    for (let round = 0; round < 40; round += 1) {
      await tellSome(50, 10_000);
      if (round % 8 !== 0) continue;
      visits.at(-1)?.leave();
      visits.push(await watch(url, "/api/events", { "last-event-id": visits.at(-1)?.lastId ?? "" }));
    }
    slow.response.resume();
    await until(() => slow.ended, "the slow client to be cut");
    expect(slow.messages.length).toBeLessThan(stayed.messages.length);
    const resumed = await watch(url, "/api/events", { "last-event-id": slow.lastId ?? "" });
    await until(
      () => resumed.lastId === stayed.lastId && visits.at(-1)?.lastId === stayed.lastId,
      "the resumed clients to catch up",
    );
    expect([...slow.seen, ...resumed.seen]).toEqual(stayed.seen);
    expect(visits.flatMap(({ seen }) => seen)).toEqual(stayed.seen);
    for (const client of [stayed, resumed, ...visits]) client.leave();
    await until(() => events.subscribers === 0, "every client to be forgotten");
  });

  test("that read nothing at all are cut off", async () => {
    const { port, events, tell } = await serveEvents({ eventCommentInterval: 30 });
    const stuck = connect(port);
    stuck.write("GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await until(() => events.subscribers === 1, "the client to be listening");
    stuck.pause();
    for (let id = 0; id < 600; id += 1) tell(id, 50_000);
    await until(() => events.subscribers === 0, "the client that reads nothing to be cut");
    stuck.destroy();
  });
});

describe("over a real service", () => {
  const axeos = { kind: "axeos", warm: true } as const;

  test("sends changed rigs as the list has them, and a reset after a restart", async () => {
    const bench = await openBench({ rigs: [axeos] });
    const { url } = await serve(bench.service);
    const client = await watch(url);
    await until(() => client.messages.some(({ type }) => type === "summary"), "the first summary to arrive");
    const id = await bench.add(bench.rig(0).address);
    await bench.act(id, { action: "stop" });
    await until(
      () => client.messages.filter(({ type }) => type === "command").length >= 3,
      "the events of the stop command to arrive",
    );
    for (const { id: number, type, data } of client.messages) ServiceEvent.parse({ id: Number(number), type, data });
    const told = client.messages.findLast(({ type }) => type === "miner")?.data;
    const { metaData, ...listed } = await bench.get(id);
    expect(told).toEqual(listed);
    await bench.service.deleteMiner({ id }, caller);
    await until(() => client.messages.some(({ type }) => type === "miner-removed"), "the miner's removal to be told");

    const before = client.lastId ?? "";
    await bench.restart();
    await until(() => client.ended, "the stream to end with the service");
    const { url: later } = await serve(bench.service);
    const resumed = await watch(later, "/api/events", { "last-event-id": before });
    await until(() => resumed.messages.length === 2, "the reset and the summary to arrive");
    expect(resumed.messages.map(({ type }) => type)).toEqual(["reset", "summary"]);
    expect(Number(resumed.lastId)).toBeGreaterThan(Number(before));
  });

  test("a client that resumes gets each changed miner once, as it is, and of a removed one only the removal", async () => {
    const bench = await openBench({ rigs: [axeos, axeos, axeos] });
    const { service } = bench;
    const ids = [0, 1, 2].map((index) => bench.add(bench.rig(index).address, { name: `rig ${index}` }));
    const [changed = 0, gone = 0, untouched = 0] = await Promise.all(ids);
    const { url } = await serve(service);
    const client = await watch(url);
    await service.changeMiner({ id: untouched, name: "before" }, caller);
    await until(() => client.messages.some(({ type }) => type === "miner"), "the first change to arrive");
    const last = client.lastId ?? "";
    client.leave();
    for (const name of ["one", "two", "three"]) {
      await service.changeMiner({ id: changed, name }, caller);
      await service.changeMiner({ id: gone, name }, caller);
    }
    await service.deleteMiner({ id: gone }, caller);
    await service.changeMiner({ id: changed, name: "four" }, caller);
    const resumed = await watch(url, "/api/events", { "last-event-id": last });
    const changes = () => resumed.messages.filter(({ type = "" }) => type.startsWith("miner"));
    await until(() => changes().length === 2, "the two changes to arrive");
    expect(changes().map(({ type, data }) => [type, Object(data).id, Object(data).name])).toEqual([
      ["miner-removed", gone, undefined],
      ["miner", changed, "four"],
    ]);
    const { metaData, ...now } = await bench.get(changed);
    expect(changes()[1]?.data).toEqual(now);
  });

  test("each user receives their own miners, and a miner that moves to them", async () => {
    const bench = await openBench({ rigs: [axeos, axeos] });
    const [north, south] = [
      await bench.service.addGroup({ name: "north", parentId: 0 }, caller),
      await bench.service.addGroup({ name: "south", parentId: 0 }, caller),
    ];
    const ids = [
      await bench.add(bench.rig(0).address, { group: "north" }),
      await bench.add(bench.rig(1).address, { group: "south" }),
    ];
    const user = async (name: string, groups: number[]) =>
      (await bench.store.users.add({ name, privilege: "view", groups, pools: null, keyHash: null })).id;
    const [anna, bert] = [await user("anna", [north.id]), await user("bert", [south.id])];
    const { url } = await serve(bench.service);
    const a = await watch(url, `/api/events?user_id=${anna}`);
    const b = await watch(url, `/api/events?user_id=${bert}`);
    expect((await fetch(`${url}/api/events?user_id=99`)).status).toBe(404);
    await until(() => [a, b].every(({ messages }) => messages.length === 1), "both users' first summaries to arrive");
    expect(a.messages).toMatchObject([{ type: "summary", data: { totalCount: 1 } }]);
    await bench.act(ids[0] ?? 0, { action: "stop" });
    await bench.act(ids[1] ?? 0, { action: "stop" });
    await bench.service.changeMiner({ id: ids[0] ?? 0, group: "south" }, caller);
    await until(() => a.messages.some(({ data }) => Object(data).totalCount === 0), "Anna's summary to count no miner");
    await until(
      () => b.messages.some(({ data }) => Object(data).totalCount === 2),
      "Bert's summary to count both miners",
    );
    const minersOf = ({ messages }: Client) =>
      messages.flatMap(({ type, data }) => {
        const { id, minerId, groupId } = Object(data);
        return type === "summary" ? [] : [[type, minerId ?? id, groupId]];
      });
    expect(minersOf(a).at(-1)).toEqual(["miner-removed", ids[0], undefined]);
    expect(minersOf(a).every(([, id]) => id === ids[0])).toBe(true);
    expect(minersOf(b).at(-1)).toEqual(["miner", ids[0], south.id]);
    expect(minersOf(b).filter(([, id]) => id === ids[0])).toHaveLength(1);
    await bench.service.deleteUser({ id: anna }, caller);
    await until(() => a.ended, "the removed user's stream to end");
    expect((await fetch(`${url}/api/events?user_id=${anna}`)).status).toBe(404);
  });

  test("a change of all miners is sent per miner if there are few, else as one event", async () => {
    const few = await openBench({ rigs: [axeos] });
    await few.add(few.rig(0).address);
    const many = await openBench({
      config: {
        miners: Array.from({ length: 600 }, (_, index) => ({
          address: `127.9.${index >> 8}.${index & 255}:9`,
          offlineExpected: true,
        })),
        poll: { interval: 3600 },
      },
    });
    const clients = [];
    for (const bench of [few, many]) {
      const { url } = await serve(bench.service);
      const client = await watch(url);
      await until(() => client.messages.length > 0, "the first event to arrive");
      clients.push(client);
      await bench.service.saveCoin({ shortName: "BTC", profit: 0.00000005 }, caller);
    }
    const [one, all] = clients;
    await until(
      () => one?.messages.some(({ type }) => type === "miner") === true,
      "the change of the one miner to be told",
    );
    await until(
      () => all?.messages.some(({ type }) => type === "reset") === true,
      "the reset for the many miners to be told",
    );
    expect(one?.messages.some(({ type }) => type === "reset")).toBe(false);
  });
});
