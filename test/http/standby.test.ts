import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import { pino } from "pino";
import { WebSocket, WebSocketServer } from "ws";
import type { HttpSettings } from "../../src/config/schema.ts";
import { agentPath } from "../../src/contract/agent.ts";
import { sitePath } from "../../src/contract/site-connection.ts";
import { passedOnHeader } from "../../src/http/passed-on.ts";
import { type ActiveService, openStandby, type Standby } from "../../src/http/standby.ts";
import { freePort } from "../free-port.ts";
import { until, within } from "../until.ts";
import { someLease } from "./some-lease.ts";
import { type Answer, type Ask, ask, open, raw, type Served, serve } from "./wire.ts";

// depends on: src/http/**

const { secret } = someLease;
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

interface Waiting {
  readonly port: number;
  readonly standby: Standby;
  readonly logged: string[];
  ask(method: string, target: string, what?: Ask): Promise<Answer>;
}

/** A service that waits, and passes on to the given address. */
async function waiting(active: Partial<ActiveService> | null): Promise<Waiting> {
  const port = await freePort();
  const logged: string[] = [];
  const log = pino({}, { write: (line: string) => logged.push(line) });
  const standby = openStandby({ http: { host: "127.0.0.1", port }, version: "1.2.3", log });
  closing.push(() => standby.close());
  standby.serve(active === null ? null : { address: null, epoch: 3, secret, ...active });
  await until(async () => (await ask(port, "GET", "/health").catch(() => null))?.status === 200, "it to listen");
  return { port, standby, logged, ask: (method, target, what = {}) => ask(port, method, target, what) };
}

/** A service with the lease. */
async function active(settings: Partial<HttpSettings> = {}): Promise<Served> {
  const served = await serve(settings, {}, "127.0.0.1", { lease: someLease });
  closing.push(() => served.server.close());
  return served;
}

async function pair(settings: Partial<HttpSettings> = {}): Promise<{ one: Served; other: Waiting }> {
  const one = await active(settings);
  return { one, other: await waiting({ address: one.server.url }) };
}

describe("a service that waits passes requests on", () => {
  test("with method, query, headers and body, and the answer as it came", async () => {
    const { one, other } = await pair();
    const body = JSON.stringify({ name: "attic" });
    const headers = { "content-type": "application/json", "x-more": "yes" };
    for (const each of [
      { method: "GET", path: "/api/summary?user_id=1" },
      { method: "POST", path: "/api/groups", body },
      { method: "HEAD", path: "/api/summary" },
      { method: "GET", path: "/openapi.json", headers: { "accept-encoding": "gzip" } },
      { method: "GET", path: "/api/nothing" },
      { method: "OPTIONS", path: "/api/groups" },
    ]) {
      const what = { headers: { ...headers, ...each.headers }, ...(each.body === undefined ? {} : { body }) };
      const direct = await one.ask(each.method, each.path, what);
      const passed = await other.ask(each.method, each.path, what);
      expect(passed.status).toBe(direct.status);
      expect(passed.bytes).toEqual(direct.bytes);
      const { date: _, ...wanted } = direct.headers;
      expect(passed.headers).toMatchObject(wanted);
    }
    expect(one.calls.filter(({ name }) => name === "addGroup").map(({ input }) => input)).toEqual([
      { name: "attic", parentId: 0 },
      { name: "attic", parentId: 0 },
    ]);
  });

  test("as those of their clients, each by its address", async () => {
    const { one, other } = await pair({ key: "0123456789abcdef" });
    const wrong = { headers: { "x-api-key": "wrong-wrong-wrong" } };
    await other.ask("GET", "/api/summary", { ...wrong, from: "127.0.0.9" });
    await other.ask("GET", "/api/summary", { ...wrong, from: "127.0.0.10" });
    const addresses = one.logged.flatMap((line) => /"address":"([^"]+)"/.exec(line)?.[1] ?? []);
    expect(addresses).toEqual(["127.0.0.9", "127.0.0.10"]);
    // A proxy in front of it is one that the settings trust, or not, as if the client had asked the other service.
    const proxied = await pair({ key: "0123456789abcdef", trustedProxies: ["127.0.0.9"] });
    const forwarded = { headers: { ...wrong.headers, "x-forwarded-for": "10.1.2.3" } };
    await proxied.other.ask("GET", "/api/summary", { ...forwarded, from: "127.0.0.9" });
    expect(proxied.one.logged.join()).toContain('"address":"10.1.2.3"');
  });

  test("and no client can say that it is another one", async () => {
    const { one, other } = await pair();
    const headers = { [passedOnHeader]: `${"0".repeat(64)} 127.0.0.1` };
    for (const at of [one, other])
      for (const text of [headers[passedOnHeader], "", `${"a".repeat(63)}\xe9 1`, `${"A".repeat(64)} 1`])
        expect(await at.ask("GET", "/api/summary", { headers: { [passedOnHeader]: text ?? "" } })).toMatchObject({
          status: 503,
          json: { code: "service.no.active" },
        });
    expect(one.calls).toEqual([]);
    const stranger = await serve();
    closing.push(() => stranger.server.close());
    // A service without others takes no notice of the header.
    expect((await stranger.ask("GET", "/api/summary", { headers })).status).toBe(200);
  });

  test("one after another of a connection, whatever their bodies hold", async () => {
    const { one, other } = await pair();
    const hidden = "GET /api/miners HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    const chunk = `${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`;
    const heads = [
      `GET /api/summary HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`,
      `GET /api/groups HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`,
      `POST /api/pools HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: content-length\r\nContent-Type: application/json\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
      `GET /api/summary HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`,
    ];
    const text = await raw(other.port, heads.join(""));
    expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(["200", "200", "400", "200"]);
    expect(one.calls.map(({ name }) => name)).toEqual(["getSummary", "listGroups", "getSummary"]);
  });

  test("also a body that waits to be asked for, and an answer that comes before a body was read", async () => {
    const { other } = await pair();
    const body = JSON.stringify({ name: "attic" });
    const head = `POST /api/groups HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n`;
    const socket = open(other.port);
    let text = "";
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    socket.write(`${head}Expect: 100-continue\r\n\r\n`);
    await until(() => text.includes("100 Continue"), "the body to be asked for");
    socket.write(body);
    await until(() => text.includes("HTTP/1.1 201"), "the answer", { details: () => text });
    const long = Buffer.alloc(3_000_000, "x");
    const headers = { "content-type": "application/json" };
    expect((await other.ask("POST", "/api/groups", { headers, body: long })).status).toBe(413);
    const chunked = { ...headers, "transfer-encoding": "chunked" };
    expect((await other.ask("POST", "/api/groups", { headers: chunked, body: long })).status).toBe(413);
  });

  test("and WebSockets, whose ends it passes on too", async () => {
    const server = createServer();
    const sockets = new WebSocketServer({ server, path: agentPath });
    closing.push(() => server.close());
    sockets.on("connection", (socket, request) => {
      socket.send(String(request.headers.authorization));
      socket.on("message", (bytes) => socket.send(bytes));
    });
    const { other } = await (async () => {
      await once(server.listen(0, "127.0.0.1"), "listening");
      return { other: await waiting({ address: `http://127.0.0.1:${portOf(server.address())}` }) };
    })();
    const client = new WebSocket(`ws://127.0.0.1:${other.port}${agentPath}`, {
      headers: { authorization: "Bearer token" },
    });
    const said: string[] = [];
    client.on("message", (bytes) => said.push(String(bytes)));
    await once(client, "open");
    client.send("x".repeat(100_000));
    await until(() => said.length === 2, "the echo");
    expect(said).toEqual(["Bearer token", "x".repeat(100_000)]);
    for (const each of sockets.clients) each.close(1001);
    expect((await within(once(client, "close"), "the end"))[0]).toBe(1001);
    // Refused ones get the answer of the active service.
    const refused = new WebSocket(`ws://127.0.0.1:${other.port}${sitePath}`);
    expect(String((await once(refused, "error"))[0])).toContain("Unexpected server response");
    const left = new WebSocket(`ws://127.0.0.1:${other.port}${agentPath}`);
    await once(left, "open");
    await other.standby.close();
    await within(once(left, "close"), "the end of what is open");
  });

  test("and ends what it was answering when it closes, also what no answer has come for", async () => {
    const silent = createTcpServer(() => undefined);
    await once(silent.listen(0, "127.0.0.1"), "listening");
    closing.push(() => silent.close());
    const upgrade = `GET ${agentPath} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
    const stopped = await waiting({ address: `http://127.0.0.1:${portOf(silent.address())}` });
    const pending = [open(stopped.port), open(stopped.port)];
    pending[0]?.write(upgrade);
    pending[1]?.write("GET /api/summary HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    let asked = 0;
    silent.on("connection", () => {
      asked += 1;
    });
    await until(() => asked === 2, "both to be passed on");
    // One that was refused, and whose client keeps its side open.
    const gone = await waiting({ address: `http://127.0.0.1:${await freePort()}` });
    const refused = connect({ host: "127.0.0.1", port: gone.port, allowHalfOpen: true });
    let answer = "";
    refused.on("data", (chunk: Buffer) => {
      answer += chunk.toString();
    });
    refused.on("error", () => undefined);
    refused.write(upgrade);
    await until(() => answer.includes("service.active-unreachable"), "the refusal", { details: () => answer });
    for (const { standby } of [stopped, gone]) await within(standby.close(), "it to close");
  });

  test("and ends streams when it closes", async () => {
    const { other } = await pair();
    const socket = open(other.port);
    let text = "";
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    socket.write("GET /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    await until(() => text.includes("text/event-stream"), "the stream", { details: () => text });
    const closed = once(socket, "close");
    await other.standby.close();
    await within(closed, "the end of the stream");
  });
});

describe("a service that waits says", () => {
  test("what it is", async () => {
    const other = await waiting({});
    const { json } = await other.ask("GET", "/health");
    expect(json).toEqual({ status: "ok", version: "1.2.3", role: "standby", epoch: 3, since: expect.any(String) });
    const { other: beside } = await pair();
    expect(await beside.ask("GET", "/health/active")).toMatchObject({
      status: 503,
      json: { code: "service.no.active" },
    });
    expect((await (await waiting(null)).ask("GET", "/health/")).json).toMatchObject({ role: "standby", epoch: null });
  });

  test("that no service is active, or that it cannot reach it", async () => {
    const unknown = { status: 503, json: { code: "service.no.active" } };
    for (const none of [null, { address: null }])
      expect(await (await waiting(none)).ask("POST", "/api/groups", { body: "{}" })).toMatchObject(unknown);
    const address = `http://127.0.0.1:${await freePort()}`;
    const other = await waiting({ address });
    for (const _ of [1, 2])
      expect(await other.ask("POST", "/api/groups", { body: "{}" })).toMatchObject({
        status: 502,
        json: { code: "service.active-unreachable", detail: expect.stringContaining(address) },
      });
    expect(other.logged.filter((line) => line.includes("cannot be reached from here"))).toHaveLength(1);
  });

  test("once it can listen, though another program had its port at first", async () => {
    const other = createTcpServer();
    await once(other.listen(0, "127.0.0.1"), "listening");
    const port = portOf(other.address());
    const logged: string[] = [];
    const log = pino({}, { write: (line: string) => logged.push(line) });
    const standby = openStandby({ http: { host: "127.0.0.1", port }, version: "1.2.3", log });
    closing.push(() => standby.close());
    standby.serve(null);
    await until(() => logged.length > 0, "it to say that it cannot listen");
    other.close();
    await until(async () => (await ask(port, "GET", "/health").catch(() => null))?.status === 200, "it to listen");
    expect(logged).toHaveLength(1);
  });

  test("that the active service has given an address which leads to one that waits", async () => {
    const port = await freePort();
    const logged: string[] = [];
    const log = pino({}, { write: (line: string) => logged.push(line) });
    const standby = openStandby({ http: { host: "127.0.0.1", port }, version: "1.2.3", log });
    closing.push(() => standby.close());
    standby.serve({ address: `http://127.0.0.1:${port}`, epoch: 3, secret });
    await until(async () => (await ask(port, "GET", "/health").catch(() => null))?.status === 200, "it to listen");
    expect(await ask(port, "GET", "/api/summary", {})).toMatchObject({
      status: 503,
      json: { detail: `The address of the active service, http://127.0.0.1:${port}, leads to one that waits` },
    });
    expect(logged.join()).toContain("its http.host must be an address at which the others reach it");
  });

  test("nothing after the active service has broken off: nobody knows what it did", async () => {
    const server = createTcpServer((socket: Socket) => socket.once("data", () => socket.destroy()));
    await once(server.listen(0, "127.0.0.1"), "listening");
    closing.push(() => server.close());
    const other = await waiting({ address: `http://127.0.0.1:${portOf(server.address())}` });
    await expect(other.ask("POST", "/api/groups", { body: "{}" })).rejects.toMatchObject({ code: "ECONNRESET" });
  });
});

const portOf = (address: AddressInfo | string | null): number =>
  typeof address === "object" && address !== null ? address.port : 0;
