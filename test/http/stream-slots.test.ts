import { once } from "node:events";
import type { Socket } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import type { EncodedEvent } from "../../src/contract/service.ts";
import { keyDigest } from "../../src/http/keys.ts";
import { httpLimits } from "../../src/http/limits.ts";
import { until, within } from "../until.ts";
import { open, type Served, serve } from "./wire.ts";

const key = "correct-horse-battery";
const users = ["anna", "bert", "cleo", "dora", "emil"];

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function serving(...how: Parameters<typeof serve>): Promise<Served> {
  const served = await serve(...how);
  Object.assign(served.service, {
    keyHolder: (digest: string) =>
      users.flatMap((name, index) => (keyDigest(name) === digest ? [{ id: index + 1, name }] : []))[0],
    async *encodedEvents(_input: unknown, _caller: unknown, signal: AbortSignal): AsyncGenerator<EncodedEvent[]> {
      yield [{ id: 1, type: "reset", json: Buffer.from("{}") }];
      if (!signal.aborted) await once(signal, "abort");
    },
  });
  closers.push(() => served.server.close());
  return served;
}

interface Opened {
  readonly status: number;
  readonly head: string;
  readonly socket: Socket;
}

async function openStream(port: number, headers: string): Promise<Opened> {
  const socket = open(port);
  closers.push(() => {
    socket.destroy();
  });
  socket.write(`GET /api/events HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`);
  const [first] = await within(once(socket, "data"), "the beginning of a stream, or why there is none");
  const head = String(first);
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), head, socket };
}

/** Opens so many streams; how many were given, and the statuses of the others. */
async function openMany(port: number, count: number, headers: string) {
  const opened = await Promise.all(Array.from({ length: count }, () => openStream(port, headers)));
  const others = opened.filter(({ status }) => status !== 200);
  return { given: count - others.length, others: [...new Set(others.map(({ status }) => status))], opened };
}

const proxied = (who: string, address: string) => `X-API-Key: ${who}\r\nX-Forwarded-For: ${address}\r\n`;

describe("streams of events, of which there are 256", () => {
  test("are 64 for a user, wherever they ask from; the others are for others", async () => {
    const { port } = await serving({ key, trustedProxies: ["127.0.0.1"] });
    const first = await openMany(port, 40, proxied("anna", "192.0.2.1"));
    const second = await openMany(port, 40, proxied("anna", "192.0.2.2"));
    expect([first.given, second.given, second.others]).toEqual([40, 24, [429]]);
    const refused = await openStream(port, proxied("anna", "192.0.2.3"));
    expect(refused.head).toMatch(/retry-after: 10/i);
    expect(refused.head).toMatch(/"code":"too\.many"/);
    expect((await openMany(port, 30, proxied("bert", "192.0.2.1"))).given).toBe(24);
  });

  test("are limited to 64 per address, and separately to 64 for the service's own key", async () => {
    const { port } = await serving({ key, keylessRead: true });
    const keyless = await openMany(port, 70, "");
    expect([keyless.given, keyless.others]).toEqual([64, [429]]);
    expect((await openStream(port, "X-API-Key: anna\r\n")).status).toBe(429);
    const owner = await openMany(port, 70, `X-API-Key: ${key}\r\n`);
    expect([owner.given, owner.others]).toEqual([64, [429]]);
    keyless.opened[0]?.socket.destroy();
    for (const { socket } of owner.opened) socket.destroy();
    await until(
      async () => (await openStream(port, "X-API-Key: anna\r\n")).status === 200,
      "a place to be free again for the address",
    );
  });

  test("reserve 16 for the service's own key", async () => {
    const { port } = await serving({ key, trustedProxies: ["127.0.0.1"] });
    const given = [];
    for (const [index, name] of users.entries())
      given.push((await openMany(port, 60, proxied(name, `192.0.2.${index}`))).given);
    expect(given).toEqual([60, 60, 60, 60, 0]);
    const refused = await openStream(port, proxied("emil", "192.0.2.9"));
    expect([refused.status, /retry-after: 10/i.test(refused.head)]).toEqual([503, true]);
    const owner = await openMany(port, 20, proxied(key, "192.0.2.9"));
    expect([owner.given, owner.others]).toEqual([16, [503]]);
    expect(given.reduce((sum, each) => sum + each) + owner.given).toBe(httpLimits.eventStreams);
  });

  test("of a proxy that is not listed are all from one address", async () => {
    const { port } = await serving({ open: true });
    const first = await openMany(port, 40, "X-Forwarded-For: 192.0.2.1\r\n");
    const second = await openMany(port, 40, "X-Forwarded-For: 192.0.2.2\r\n");
    expect([first.given, second.given]).toEqual([40, 24]);
  });
});
