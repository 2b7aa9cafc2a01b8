import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Socket } from "node:net";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { expect, test } from "@jest/globals";
import { pino } from "pino";
import { type WebSocket, WebSocketServer } from "ws";
import type { ServiceLink } from "../../src/agent/agent.ts";
import { Connection, type ConnectionLimits, type ConnectionOptions, checkService } from "../../src/agent/connection.ts";
import { SeenLease } from "../../src/agent/seen-lease.ts";
import { agentPath, laterEpochCode, leaseHeader, type ToAgent } from "../../src/contract/agent.ts";
import { frameOf } from "../../src/contract/agent-frames.ts";
import { onTestFinished } from "../finished.ts";
import { until } from "../until.ts";
import { ownFolder } from "./host.ts";

const quick: ConnectionLimits = {
  backOff: { firstMs: 10, longestMs: 40 },
  refusedMs: 10,
  handshakeMs: 60_000,
  // A test that stands still must not look like a service that no longer answers.
  silenceMs: 60_000,
  waiting: 16_000_000,
};

interface FakeService {
  readonly url: URL;
  readonly requests: IncomingMessage[];
  readonly sockets: WebSocket[];
  /** Status with which upgrades are refused; 0 takes them. */
  status: number;
  /** What it sends first. */
  greeting: string | null;
  /** Codes and reasons of the connections that have ended. */
  readonly ends: string[];
  /** Its store and the epoch; null: it has its store alone. */
  lease: string | null;
}

/** Of localhost, signed by itself. */
async function selfSigned(): Promise<{ readonly cert: string; readonly key: string }> {
  const folder = await ownFolder();
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "2"];
  const made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", ...subject, "-keyout", key, "-out", cert];
  execFileSync("openssl", made, { stdio: "ignore" });
  return { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
}

async function startService(tls: { readonly cert: string; readonly key: string } | null = null): Promise<FakeService> {
  const http = tls === null ? createServer() : createTlsServer(tls);
  const accepting = new WebSocketServer({ noServer: true });
  const open = new Set<Duplex>();
  const service: FakeService = {
    url: new URL("http://localhost"),
    requests: [],
    sockets: [],
    status: 0,
    ends: [],
    greeting: null,
    lease: null,
  };
  accepting.on("headers", (headers) => {
    if (service.lease !== null) headers.push(`${leaseHeader}: ${service.lease}`);
  });
  http.on("connection", (socket: Socket) => open.add(socket));
  http.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    service.requests.push(request);
    if (service.status !== 0) socket.end(`HTTP/1.1 ${service.status} No\r\nConnection: close\r\n\r\n`);
    else
      accepting.handleUpgrade(request, socket, head, (each) => {
        service.sockets.push(each);
        each.on("close", (code, reason) => service.ends.push(`${code} ${reason}`));
        if (service.greeting !== null) each.send(service.greeting);
      });
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  onTestFinished(() => {
    for (const each of open) each.destroy();
    http.close();
  });
  const address = http.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return Object.assign(service, { url: new URL(`${tls === null ? "http" : "https"}://localhost:${port}/rigs/`) });
}

function connect(
  service: URL | readonly [URL, ...URL[]],
  options: Partial<ConnectionOptions> = {},
  seenFile: string | null = null,
) {
  const services = service instanceof URL ? ([service] as const) : service;
  const lines: string[] = [];
  const links: ServiceLink[] = [];
  const messages: ToAgent[] = [];
  const frames: { channel: number; text: string }[] = [];
  let closed = 0;
  const log = pino({ level: "info" }, { write: (line: string) => lines.push(JSON.parse(line).msg) });
  const connection = new Connection(
    { services, token: "token-of-this-host-123", ca: null, insecure: false, log, limits: quick, ...options },
    new SeenLease(seenFile),
    (link) => {
      links.push(link);
      return {
        message: (message) => messages.push(message),
        frame: (channel, bytes) => frames.push({ channel, text: bytes.toString() }),
        closed: () => {
          closed += 1;
        },
      };
    },
  );
  onTestFinished(() => connection.close());
  return { connection, lines, links, messages, frames, closed: () => closed };
}

test("an agent connects with its token, takes messages and bytes, and connects again after each end", async () => {
  const service = await startService();
  const agent = connect(service.url);
  await until(() => service.sockets.length === 1, "the connection");
  expect(service.requests[0]?.url).toBe(`/rigs${agentPath}`);
  expect(service.requests[0]?.headers.authorization).toBe("Bearer token-of-this-host-123");
  service.sockets[0]?.send(JSON.stringify({ t: "stop", n: 1, id: 2 }));
  service.sockets[0]?.send(frameOf(3, Buffer.from("bytes")));
  await until(() => agent.messages.length === 1 && agent.frames.length === 1, "the message and the bytes");
  expect(agent.messages).toEqual([{ t: "stop", n: 1, id: 2 }]);
  expect(agent.frames).toEqual([{ channel: 3, text: "bytes" }]);
  service.sockets[0]?.terminate();
  await until(() => service.sockets.length === 2, "the next connection");
  expect(agent.closed()).toBe(1);
  expect(agent.lines.some((line) => line.includes("No connection to the service"))).toBe(true);
});

test("an agent with several addresses stays with the one that answers, and goes to the next when it does not", async () => {
  const [one, two] = [await startService(), await startService()];
  one.status = 503;
  const agent = connect([one.url, two.url]);
  await until(() => two.sockets.length === 1, "the connection to the second address");
  two.sockets[0]?.terminate();
  await until(() => two.sockets.length === 2, "the connection to the second address again");
  expect(one.requests).toHaveLength(1);
  one.status = 0;
  two.status = 401;
  two.sockets[1]?.terminate();
  await until(() => one.sockets.length === 1, "the connection to the first address");
  expect(agent.lines.filter((line) => line.includes(one.url.host) && line.startsWith("No connection"))).toHaveLength(1);
});

test.each([
  ["at an earlier epoch of its store", 6, 2_000],
  ["with another epoch of that number", 7, 2_000],
])("a service %s than the agent has seen is refused, also by the next agent", async (_, epoch, since) => {
  const [store, other] = ["a".repeat(32), "b".repeat(32)];
  const service = await startService();
  const seenFile = join(await ownFolder(), "service.lease");
  service.lease = `${store} 7 1000`;
  const agent = connect(service.url, {}, seenFile);
  await until(() => agent.links.length === 1, "the connection");
  service.lease = `${store} ${epoch} ${since}`;
  service.greeting = JSON.stringify({ t: "stop", n: 1, id: 2 });
  service.sockets[0]?.terminate();
  await until(() => service.ends.length >= 3, "the agent to refuse the service");
  agent.connection.close();
  const next = connect(service.url, {}, seenFile);
  const tried = service.ends.length + 2;
  await until(() => service.ends.length >= tried, "the next agent to refuse the service");
  expect(new Set(service.ends.slice(1))).toEqual(new Set([`${laterEpochCode} 7`]));
  expect(agent.lines.filter((line) => line.includes("epoch"))).toEqual([
    `This agent refuses the service at ${service.url.host}: its database is older than the agent has seen it, or a copy ` +
      `(epoch ${epoch}; seen: epoch 7); if it was restored from a backup, start the service once with --accept-restored; ` +
      "programs keep running",
  ]);
  expect([agent.links.length, agent.messages, next.links, next.messages]).toEqual([1, [], [], []]);
  service.lease = `${store} 1006 2000`;
  await until(() => next.messages.length === 1, "a message of the service that was told to accept the database");
  // Another store has its own epochs, and a service that has its store alone has none.
  for (const [index, lease] of [`${other} 1 3000`, null, "nonsense"].entries()) {
    service.lease = lease;
    service.sockets.at(-1)?.terminate();
    await until(() => next.messages.length === 2 + index, "a message over the next connection");
  }
});

test("an agent that refuses one service goes to the next", async () => {
  const [one, two] = [await startService(), await startService()];
  const store = "a".repeat(32);
  one.lease = `${store} 7 1000`;
  two.lease = one.lease;
  const agent = connect([one.url, two.url]);
  await until(() => agent.links.length === 1, "the connection");
  one.lease = `${store} 6 900`;
  one.sockets[0]?.terminate();
  await until(() => agent.links.length === 2, "the connection to the other service");
  expect(two.sockets).toHaveLength(1);
});

test("messages that are not of the protocol change nothing; a request among them is answered", async () => {
  const service = await startService();
  const agent = connect(service.url);
  await until(() => service.sockets.length === 1, "the connection");
  const answers: unknown[] = [];
  service.sockets[0]?.on("message", (bytes) => answers.push(JSON.parse(String(bytes))));
  for (const text of ["{", "null", '{"t":"programs","programs":[{"id":1}]}', '{"t":"dance","n":5}'])
    service.sockets[0]?.send(text);
  await until(() => answers.length === 1, "the answer");
  expect(answers[0]).toMatchObject({ t: "done", n: 5, error: { code: "service.unsupported" } });
  expect(agent.messages).toEqual([]);
});

test("a message of more than a megabyte ends the connection, and the agent comes back", async () => {
  const service = await startService();
  const agent = connect(service.url);
  await until(() => service.sockets.length === 1, "the connection");
  service.sockets[0]?.send("x".repeat(1_000_001));
  await until(() => service.sockets.length === 2, "the next connection");
  expect(agent.messages).toEqual([]);
});

test("a token that is refused is named once, without the token, and tried again", async () => {
  const service = await startService();
  service.status = 401;
  const agent = connect(service.url);
  await until(() => service.requests.length >= 3, "three tries");
  const said = agent.lines.filter((line) => line.includes("refuses this agent"));
  expect(said).toHaveLength(1);
  expect(said[0]).toContain("the token is wrong or was revoked");
  expect(agent.lines.join()).not.toContain("token-of-this-host");
  service.status = 0;
  await until(() => agent.links.length === 1, "the connection");
});

test("a token that is revoked while the agent is connected is named with the service's reason", async () => {
  const service = await startService();
  const agent = connect(service.url);
  await until(() => service.sockets.length === 1, "the connection");
  service.sockets[0]?.close(1008, "its token was revoked");
  await until(() => agent.lines.some((line) => line.includes("its token was revoked")), "the reason");
});

test("a service that no longer answers is left", async () => {
  const service = await startService();
  const agent = connect(service.url, { limits: { ...quick, silenceMs: 50 } });
  await until(() => service.sockets.length === 1, "the connection");
  // It neither answers pings nor closes.
  service.requests[0]?.socket.pause();
  await until(() => agent.closed() > 0, "the agent to notice");
});

test("a redirect is not followed", async () => {
  const service = await startService();
  service.status = 302;
  const agent = connect(service.url);
  await until(() => agent.lines.some((line) => line.includes("HTTP status 302")), "the refusal");
  expect(agent.links).toEqual([]);
});

test("plain http is accepted to private addresses only, whatever name leads elsewhere", async () => {
  const at = (address: string) => () => checkService({ service: new URL(address), insecure: false });
  const refusalOf = (check: () => void): string => {
    try {
      check();
      return "accepted";
    } catch (error) {
      return String(error);
    }
  };
  for (const address of ["127.0.0.1:1", "10.1.2.3", "172.31.0.1", "192.168.1.1", "[::1]", "[fd00::1]", "rigs.example"])
    expect(at(`http://${address}`)).not.toThrow();
  for (const address of ["8.8.8.8", "172.32.0.1", "[2001:db8::1]", "1.1", "0x08080808"])
    expect([address, refusalOf(at(`http://${address}`))]).toEqual([
      address,
      expect.stringMatching(/must begin with https:\/\//),
    ]);
  expect(at("https://8.8.8.8")).not.toThrow();
  expect(() => checkService({ service: new URL("http://8.8.8.8"), insecure: true })).not.toThrow();
});

test("over https, only the right authority is trusted, unless --insecure is given", async () => {
  const secrets = await selfSigned();
  const service = await startService(secrets);
  const stranger = connect(service.url);
  await until(() => stranger.lines.some((line) => /SELF_SIGNED|UNABLE_TO_VERIFY/.test(line)), "the refusal");
  expect(service.sockets).toEqual([]);
  connect(service.url, { ca: secrets.cert });
  await until(() => service.sockets.length === 1, "the connection with --ca");
  connect(service.url, { insecure: true });
  await until(() => service.sockets.length === 2, "the connection with --insecure");
});

test("an agent that is closed does not come back", async () => {
  const service = await startService();
  const agent = connect(service.url);
  await until(() => agent.links.length === 1, "the connection");
  agent.connection.close();
  await until(() => agent.closed() === 1, "the end");
  expect(service.sockets[0]?.readyState).not.toBe(1);
});
