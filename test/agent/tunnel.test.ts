import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { expect, test } from "@jest/globals";
import { Tunnel, tunnelLimits } from "../../src/agent/tunnel.ts";
import { onTestFinished } from "../finished.ts";
import { until } from "../until.ts";
import { doubleProgram, startHost } from "./host.ts";

test("the service reads a program's API through the agent", async () => {
  const host = await startHost();
  host.send({ t: "programs", programs: [doubleProgram(host.path)] });
  const { apiToken } = await host.untilStatus("running");
  host.send({ t: "open", channel: 7, id: 1 });
  host.service.frame(7, Buffer.from(`GET /2/summary HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${apiToken}\r\n\r\n`));
  await until(() => host.messages.some((each) => each.t === "closed" && each.channel === 7), "the end of the answer");
  const text = Buffer.concat(host.frames.filter(({ channel }) => channel === 7).map(({ bytes }) => bytes)).toString();
  expect(text).toMatch(/^HTTP\/1.1 200/);
  expect(text).toContain('"kind": "miner"');
  expect(host.messages.filter((each) => each.t === "closed")).toEqual([{ t: "closed", channel: 7 }]);
});

test("only ports of programs that run are connected to", async () => {
  const host = await startHost();
  host.send({ t: "programs", programs: [doubleProgram(host.path, { running: false })] });
  host.send({ t: "open", channel: 1, id: 1 });
  host.send({ t: "open", channel: 2, id: 22 });
  await until(() => host.messages.filter((each) => each.t === "closed").length === 2, "both refusals");
  expect(host.messages.filter((each) => each.t === "closed")).toEqual([
    { t: "closed", channel: 1, error: "ECONNREFUSED" },
    { t: "closed", channel: 2, error: "ECONNREFUSED" },
  ]);
});

/** A program's API, and a tunnel to it. */
async function tunnelTo(serve: (socket: Socket) => void, limits: Partial<typeof tunnelLimits> = {}) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    serve(socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const closed: [number, string | null][] = [];
  const sent: Buffer[] = [];
  const link = {
    waiting: 0,
    sendFrame: (_: number, bytes: Buffer) => sent.push(bytes),
    closed: (channel: number, error: string | null) => closed.push([channel, error]),
  };
  const tunnel = new Tunnel((program) => (program === 1 ? port : null), link, { ...tunnelLimits, ...limits });
  onTestFinished(() => {
    tunnel.closeAll();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { tunnel, closed, sent, sockets, link };
}

test("too many connections, and channels that are open already, are refused", async () => {
  const { tunnel, closed } = await tunnelTo(() => undefined, { connections: 2 });
  for (const channel of [1, 1, 2, 3]) tunnel.open(channel, 1);
  expect(closed).toEqual([
    [1, "ECONNREFUSED"],
    [3, "ECONNREFUSED"],
  ]);
});

test("a connection without traffic, a program that does not read, and a service that does not are cut off", async () => {
  const silent = await tunnelTo(() => undefined, { idleMs: 50 });
  silent.tunnel.open(1, 1);
  await until(() => silent.closed.length > 0, "the silent connection to end");
  expect(silent.closed).toEqual([[1, "ETIMEDOUT"]]);

  const deaf = await tunnelTo((socket) => socket.pause(), { waiting: 1_000 });
  deaf.tunnel.open(1, 1);
  await until(() => deaf.sockets.size === 1, "the connection");
  for (let times = 0; times < 1_000 && deaf.closed.length === 0; times += 1) {
    deaf.tunnel.write(1, Buffer.alloc(100_000));
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(deaf.closed).toEqual([[1, "EPIPE"]]);

  const flooding = await tunnelTo((socket) => socket.write(Buffer.alloc(200_000)));
  flooding.link.waiting = 5_000_000;
  flooding.tunnel.open(1, 1);
  await until(() => flooding.closed.length > 0, "the flooding connection to end");
  expect(flooding.closed).toEqual([[1, "EPIPE"]]);
  expect(Math.max(...flooding.sent.map(({ length }) => length))).toBeLessThanOrEqual(65_536);
});

test("a channel that the service closes is closed at the program, without an answer", async () => {
  const { tunnel, closed, sockets } = await tunnelTo(() => undefined);
  tunnel.open(1, 1);
  await until(() => sockets.size === 1, "the connection");
  tunnel.close(1);
  const [socket] = sockets;
  socket?.resume();
  await until(() => socket?.readableEnded === true, "the program's end to close");
  tunnel.write(1, Buffer.from("late"));
  expect(closed).toEqual([]);
});
