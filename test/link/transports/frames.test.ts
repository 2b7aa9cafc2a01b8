import { once } from "node:events";
import type { Socket } from "node:net";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { framed, frameTransport } from "../../../src/link/transports/frames.ts";
import { limits, within } from "../../until.ts";
import { closedPort, serve, type TinyServer, trickling } from "../servers.ts";

const deadline = (ms = limits.waitMs): AbortSignal => AbortSignal.timeout(ms);
const sound = { code: 0, when: 1, msg: { summary: { elapsed: 1 } }, desc: "get.miner.status" };
const json = JSON.stringify(sound);
const heartbeat = Buffer.alloc(4);

/** The one that was started last. */
let server: TinyServer | undefined;

async function ask(answer: (socket: Socket, request: string) => void, signal = deadline()): Promise<unknown> {
  server = await serve(answer);
  return frameTransport("127.0.0.1", server.port).ask({ cmd: "get.device.info" }, signal);
}

/** Writes parts one after the other, each as a segment of its own. */
function inParts(socket: Socket, parts: readonly Buffer[]): void {
  const [first, ...rest] = parts;
  if (first === undefined || socket.destroyed) return;
  socket.write(first, () => setImmediate(() => inParts(socket, rest)));
}

describe("a request", () => {
  test("is one frame on its own connection, after its length in little-endian", async () => {
    const requests: string[] = [];
    const server = await serve((socket, request) => {
      requests.push(request);
      socket.write(framed(json));
    });
    const frames = frameTransport("127.0.0.1", server.port);
    await frames.ask({ cmd: "a" }, deadline());
    await frames.ask({ cmd: "b", param: "é" }, deadline());
    expect(requests).toEqual(['\x0b\0\0\0{"cmd":"a"}', '\x18\0\0\0{"cmd":"b","param":"é"}']);
    expect(server.connections()).toBe(2);
  });

  test("longer than 255 bytes says so in two bytes", () => {
    expect([...framed("x".repeat(0x1_0203)).subarray(0, 4)]).toEqual([3, 2, 1, 0]);
  });
});

describe("an answer", () => {
  test("is read although the rig keeps the connection, which is then closed", async () => {
    let closed: Promise<unknown> = Promise.reject(new Error("nobody asked"));
    closed.catch(() => {});
    const reply = ask((socket) => {
      closed = once(socket, "close");
      socket.write(framed(json));
    });
    await expect(reply).resolves.toEqual({ value: sound, notes: [] });
    await within(closed, "the connection to be closed");
  });

  test("in pieces of one byte, its length and a character among what is split, is put together", async () => {
    const value = { msg: "é😀" };
    const bytes = framed(JSON.stringify(value));
    const pieces = [...bytes].map((byte) => Buffer.from([byte]));
    await expect(ask((socket) => inParts(socket, pieces))).resolves.toEqual({ value, notes: [] });
  });

  test("after heartbeats, whole ones and split ones, is the first frame that says something", async () => {
    const bytes = [
      heartbeat,
      heartbeat.subarray(0, 3),
      Buffer.concat([heartbeat.subarray(3), heartbeat, framed(json)]),
    ];
    await expect(ask((socket) => inParts(socket, bytes))).resolves.toEqual({ value: sound, notes: [] });
  });

  test("with another frame behind it is read without that", async () => {
    const both = Buffer.concat([framed(json), framed('{"code":-1}'), heartbeat]);
    await expect(ask((socket) => socket.end(both))).resolves.toEqual({ value: sound, notes: [] });
  });

  test("of nearly a megabyte is read", async () => {
    const value = { msg: "x".repeat(1_000_000) };
    await expect(ask((socket) => socket.end(framed(JSON.stringify(value))))).resolves.toEqual({ value, notes: [] });
  });

  test("that has to be repaired comes with a note", async () => {
    await expect(ask((socket) => socket.end(framed('{"code":0,}')))).resolves.toEqual({
      value: { code: 0 },
      notes: [expect.stringContaining("commas")],
    });
  });

  test("cut anywhere into pieces is the same answer", async () => {
    const bytes = Buffer.concat([heartbeat, framed(json)]);
    let cuts: number[] = [];
    server = await serve((socket) => {
      const places = [0, ...cuts, bytes.length];
      const pieces = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
      inParts(socket, pieces);
    });
    const frames = frameTransport("127.0.0.1", server.port);
    const anywhere = fc.array(fc.nat(bytes.length), { maxLength: 6 }).map((list) => list.sort((a, b) => a - b));
    await fc.assert(
      fc.asyncProperty(anywhere, async (places) => {
        cuts = places;
        expect(await frames.ask({ cmd: "x" }, deadline())).toEqual({ value: sound, notes: [] });
      }),
      { numRuns: 50 },
    );
  });
});

describe("an error names the address and what happened there", () => {
  const tooLong = Buffer.from([0xff, 0xff, 0xff, 0x7f]);
  test.each<[string, (socket: Socket) => void, string, string]>([
    ["closed without a byte", (socket) => socket.end(), "rig.garbled", "0 bytes received"],
    ["closed after a heartbeat", (socket) => socket.end(heartbeat), "rig.garbled", "4 bytes received"],
    ["reset without a byte", (socket) => socket.resetAndDestroy(), "rig.garbled", "without a whole answer"],
    ["broken off", (socket) => socket.end(framed(json).subarray(0, 30)), "rig.garbled", "30 bytes received"],
    ["a length beyond all measure", (socket) => socket.write(tooLong), "rig.garbled", "1024 KB"],
    ["an HTTP answer", (socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"), "rig.garbled", "1024 KB"],
    ["heartbeats for ever", (socket) => socket.write(Buffer.alloc(1_200_000)), "rig.garbled", "1024 KB"],
    ["not JSON", (socket) => socket.end(framed("hello")), "rig.garbled", 'begins with "hello'],
    ["too deep", (socket) => socket.end(framed("[".repeat(10_000))), "rig.garbled", "32 levels"],
  ])("%s", async (_, answer, code, words) => {
    const failure = ask(answer);
    await expect(failure).rejects.toMatchObject({ code, message: expect.stringContaining(words) });
    await expect(failure).rejects.toMatchObject({ message: expect.stringContaining(`127.0.0.1:${server?.port}`) });
  });

  test("reset in the middle of an answer", async () => {
    const failure = ask((socket) => socket.write(framed(json).subarray(0, 20), () => socket.resetAndDestroy()));
    await expect(failure).rejects.toMatchObject({ code: "rig.garbled" });
  });

  test("nothing listens", async () => {
    const frames = frameTransport("127.0.0.1", await closedPort());
    await expect(frames.ask({ cmd: "x" }, deadline())).rejects.toMatchObject({
      code: "rig.unreachable",
      message: expect.stringContaining("refused"),
    });
  });

  test("no answer within the deadline", async () => {
    await expect(ask(() => {}, deadline(50))).rejects.toMatchObject({
      code: "rig.timeout",
      message: expect.stringContaining("in time"),
    });
  });

  test("only heartbeats within the deadline", async () => {
    const { answer, signal } = trickling(heartbeat);
    await expect(ask(answer, signal)).rejects.toMatchObject({
      code: "rig.timeout",
      message: expect.stringContaining("bytes received"),
    });
  });

  test("closing the transport cancels open exchanges, and nothing is sent afterwards", async () => {
    const server = await serve(() => frames.close());
    const frames = frameTransport("127.0.0.1", server.port);
    await expect(frames.ask({ cmd: "x" }, deadline())).rejects.toMatchObject({ code: "rig.timeout" });
    await expect(frames.ask({ cmd: "x" }, deadline())).rejects.toMatchObject({ code: "rig.timeout" });
    expect(server.connections()).toBe(1);
  });
});
