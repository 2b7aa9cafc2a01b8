import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { until, within } from "../until.ts";
import { open, type Served, serve } from "./wire.ts";

let served: Served;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.server.close());
afterEach(() => {
  served.calls.length = 0;
  served.answers.clear();
  served.encoded.clear();
});

const host = "Host: localhost\r\n";
const get = (path: string, headers = "") => `GET ${path} HTTP/1.1\r\n${host}${headers}\r\n`;
const last = get("/health", "Connection: close\r\n");
const statusesIn = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));

/** An answer of an operation that comes when it is let go. */
function heldBack(name: string): () => void {
  let letGo = (): void => {};
  const answer = new Promise((resolve) => {
    letGo = () => resolve({ ok: name });
  });
  served.answers.set(name, answer);
  return () => letGo();
}

describe("of requests that are sent one behind the other", () => {
  test("none is worked on before those in front of it are answered", async () => {
    const letGo = heldBack("getSummary");
    const text = served.raw(get("/api/summary").repeat(900) + last);
    await until(() => served.calls.length > 0, "the first request to reach the service");
    for (let turn = 0; turn < 5; turn += 1) await served.ask("GET", "/health");
    expect(served.calls).toHaveLength(1);
    letGo();
    expect(statusesIn(await text)).toEqual(Array(901).fill(200));
    expect(served.calls).toHaveLength(900);
  });

  test("each has its own body, however it is framed", async () => {
    const bodies = Array.from({ length: 40 }, (_, index) =>
      JSON.stringify({ description: `pool ${index}`, pad: "x".repeat(index * 500) }),
    );
    const sent = bodies.map((body, index) => {
      const framed =
        index % 2 === 0
          ? `Content-Length: ${body.length}\r\n\r\n${body}`
          : `Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
      return `POST /api/pools HTTP/1.1\r\n${host}Content-Type: application/json\r\n${framed}${get(`/api/pools/${index}`)}`;
    });
    const text = await served.raw(sent.join("") + last);
    expect(statusesIn(text)).toEqual(Array(81).fill(200));
    const asked = served.calls.map(({ name, input }) =>
      name === "savePool" ? Object(input).description : Object(input).id,
    );
    expect(asked).toEqual(bodies.flatMap((body, index) => [JSON.parse(body).description, index]));
  });

  test("those behind one that ends the connection are not done", async () => {
    const text = await served.raw(last + get("/api/summary").repeat(20));
    expect([statusesIn(text), served.calls]).toEqual([[200], []]);
  });

  test("those that wait when the client leaves are not done", async () => {
    const letGo = heldBack("getSummary");
    const socket = open(served.port);
    socket.write(get("/api/summary").repeat(20));
    await until(() => served.calls.length > 0, "the first request to reach the service");
    socket.resetAndDestroy();
    letGo();
    for (let turn = 0; turn < 5; turn += 1) await served.ask("GET", "/health");
    // The answer to the first may have left before the connection was seen to be gone.
    await until(async () => (await served.ask("GET", "/health")).status === 200, "the service to go on");
    expect(served.calls.length).toBeLessThan(20);
  });

  test("a client that leaves is noticed although the one under way is not answered", async () => {
    const letGo = heldBack("getSummary");
    const socket = open(served.port);
    socket.write(get("/health") + get("/api/summary"));
    await until(() => served.calls.length > 0, "the second request to reach the service");
    socket.end();
    const closed = once(socket, "close");
    socket.resume();
    await within(closed, "the service to close the connection, too");
    letGo();
  });

  test("too many are cut off, but clients that send one after the other are not", async () => {
    const narrow = await serve({}, { pipelinedBytes: 300_000 });
    const letGo = heldBackOf(narrow);
    const [first, second] = [open(narrow.port), open(narrow.port)];
    first.write(get("/api/summary").repeat(100));
    await until(() => narrow.calls.length === 1, "the first client's request to reach the service");
    const closed = once(second, "close");
    second.resume().write(get("/api/summary").repeat(100));
    await within(closed, "the second client to be cut off");
    expect((await narrow.ask("GET", "/health")).status).toBe(200);
    first.resume();
    letGo();
    await until(() => narrow.calls.length >= 100, "the first client's requests to be answered");
    first.destroy();
    await narrow.server.close();
  });

  function heldBackOf(other: Served): () => void {
    let letGo = (): void => {};
    other.answers.set(
      "getSummary",
      new Promise((resolve) => {
        letGo = () => resolve({ ok: true });
      }),
    );
    return () => letGo();
  }
});

test("a closing server finishes the current answer, starts no waiting request, and ends the connection", async () => {
  const closing = await serve({}, { closeTimeout: 3_600_000 });
  let letGo = (): void => {};
  closing.answers.set(
    "getSummary",
    new Promise((resolve) => {
      letGo = () => resolve({ ok: true });
    }),
  );
  const text = closing.raw(get("/api/summary").repeat(50));
  await until(() => closing.calls.length === 1, "the first request to reach the service");
  const closed = closing.server.close();
  letGo();
  expect(statusesIn(await text)).toEqual([200]);
  await within(closed, "the server to close");
  expect(closing.calls).toHaveLength(1);
});

test("a server that closes does not wait for readers that take nothing, nor for what they sent ahead", async () => {
  const closing = await serve({}, { closeTimeout: 50 });
  const chunk = Buffer.alloc(65_536, 120);
  closing.encoded.set("listMiners", { etag: "big", chunks: Array(400).fill(chunk), length: 400 * chunk.length });
  const stuck = Array.from({ length: 20 }, () => open(closing.port).pause());
  for (const socket of stuck) socket.write(get("/api/miners").repeat(500));
  await until(() => stuck.every(({ bytesWritten }) => bytesWritten > 0), "all to have asked");
  await closing.ask("GET", "/health");
  await within(closing.server.close(), "the server to close");
  for (const socket of stuck) socket.destroy();
});

describe("a client that is refused while it sends", () => {
  const megabytes = (count: number): string => "x".repeat(count * 1_000_000);
  const bodyOf = (bytes: number): string =>
    `POST /api/pools HTTP/1.1\r\n${host}Content-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`;
  /** A client that reads nothing before it has sent all: what its connection then says. */
  const readingLast = async (port: number, bytes: string): Promise<{ failed: boolean; statuses: number[] }> => {
    const socket = open(port).pause();
    const failed = await new Promise<boolean>((resolve) => socket.write(bytes, (error) => resolve(error != null)));
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
    });
    if (!socket.closed) await within(once(socket.resume(), "close"), "the end of the connection");
    return { failed, statuses: statusesIn(text) };
  };

  test.each([
    ["a body that is too large", `${bodyOf(8_000_000)}${megabytes(8)}`, 413],
    ["headers that are too large", `GET / HTTP/1.1\r\n${host}X-Long: ${megabytes(8)}\r\n\r\n`, 431],
    ["no HTTP", `GARBAGE\r\n\r\n${megabytes(8)}`, 400],
  ])("gets the answer although it reads it last: %s", async (_what, bytes, status) => {
    expect(await readingLast(served.port, bytes)).toEqual({ failed: false, statuses: [status] });
  });

  test("is cut off after some bytes more", async () => {
    const strict = await serve({}, { lingerBytes: 100_000, lingerTimeout: 3_600_000 });
    expect(await readingLast(strict.port, `${bodyOf(40_000_000)}${megabytes(40)}`)).toMatchObject({ failed: true });
    await strict.server.close();
  });

  test("is cut off after a while, even if it does not end its side", async () => {
    const strict = await serve({}, { lingerTimeout: 50 });
    const socket = connect({ host: "127.0.0.1", port: strict.port, allowHalfOpen: true });
    const cut = once(socket, "error");
    socket.resume().once("end", () => {
      const more = setInterval(() => socket.write("x"), 20);
      socket.once("close", () => clearInterval(more));
    });
    socket.write(bodyOf(8_000_000));
    await within(cut, "the connection to be cut");
    await strict.server.close();
  });
});
