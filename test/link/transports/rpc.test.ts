import { once } from "node:events";
import type { Socket } from "node:net";
import { Worker } from "node:worker_threads";
import { describe, expect, test } from "@jest/globals";
import { rpcTransport } from "../../../src/link/transports/rpc.ts";
import { onTestFinished } from "../../finished.ts";
import { limits } from "../../until.ts";
import { closedPort, serve, type TinyServer, trickling } from "../servers.ts";

const deadline = (ms = limits.waitMs): AbortSignal => AbortSignal.timeout(ms);
const sound = { STATUS: [{ STATUS: "S", Msg: "Summary" }], SUMMARY: [{ Elapsed: 1 }] };
const json = JSON.stringify(sound);

/** The one that was started last. */
let server: TinyServer | undefined;

async function ask(answer: (socket: Socket, request: string) => void, signal = deadline()): Promise<unknown> {
  server = await serve(answer);
  return rpcTransport("127.0.0.1", server.port).send("summary", undefined, signal);
}

describe("a request", () => {
  test("is one JSON object on a connection of its own", async () => {
    const requests: string[] = [];
    const server = await serve((socket, request) => {
      requests.push(request);
      socket.end(`${json}\0`);
    });
    const rpc = rpcTransport("127.0.0.1", server.port);
    await rpc.send("summary", undefined, deadline());
    await rpc.send("switchpool", '1,"2"', deadline());
    expect(requests).toEqual(['{"command":"summary"}', '{"command":"switchpool","parameter":"1,\\"2\\""}']);
    expect(server.connections()).toBe(2);
  });
});

describe("a reply", () => {
  test("ends at its NUL although the rig keeps the connection", async () => {
    await expect(ask((socket) => socket.write(`${json}\0`))).resolves.toEqual({ value: sound, notes: [] });
  });

  test("without NUL ends when the rig closes", async () => {
    await expect(ask((socket) => socket.end(json))).resolves.toEqual({ value: sound, notes: [] });
  });

  test("without NUL ends when it looks whole and nothing more comes", async () => {
    await expect(ask((socket) => socket.write(`${json}\n`))).resolves.toEqual({ value: sound, notes: [] });
  });

  test("that came on while this process stood still is whole", async () => {
    const rig = new Worker(
      `const { createServer } = require("node:net");
       const { parentPort } = require("node:worker_threads");
       const server = createServer((socket) => {
         socket.write('{"STATUS":[{"STATUS":"S","Msg":"Summary"}');
         parentPort.once("message", () => socket.end('],"SUMMARY":[{"Elapsed":1}]}'));
       });
       server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
       server.on("connection", () => parentPort.postMessage("began"));`,
      { eval: true },
    );
    onTestFinished(() => rig.terminate());
    const [port] = await once(rig, "message");
    const reply = rpcTransport("127.0.0.1", port).send("summary", undefined, deadline());
    await once(rig, "message");
    rig.postMessage("go on");
    // The rest arrives meanwhile, and the time after which a reply counts as complete passes.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600);
    await expect(reply).resolves.toEqual({ value: sound, notes: [] });
  });

  test("in pieces, a character split between two of them, is put together", async () => {
    const bytes = Buffer.from(`${JSON.stringify({ User: "é😀" })}\0`);
    const reply = ask((socket) => {
      let at = 0;
      const next = (): void => {
        if (at >= bytes.length) return;
        at += 1;
        socket.write(bytes.subarray(at - 1, at), () => setImmediate(next));
      };
      next();
    });
    await expect(reply).resolves.toEqual({ value: { User: "é😀" }, notes: [] });
  });

  test("with bytes behind its NUL is read without them", async () => {
    await expect(ask((socket) => socket.end(`${json}\0OK\r\n`))).resolves.toEqual({ value: sound, notes: [] });
  });

  test("with a NUL in a text is read with a note", async () => {
    await expect(ask((socket) => socket.end('{"User":"a\0b"}\0'))).resolves.toEqual({
      value: { User: "ab" },
      notes: ["control characters in texts were dropped"],
    });
  });

  test("that is not UTF-8 is read as Latin-1 with a note", async () => {
    const reply = ask((socket) => socket.end(Buffer.from('{"User":"é"}\0', "latin1")));
    await expect(reply).resolves.toEqual({ value: { User: "é" }, notes: [expect.stringContaining("Latin-1")] });
  });
});

describe("an error names the address and what happened there", () => {
  test.each<[string, (socket: Socket) => void, string, string]>([
    ["closed without a byte", (socket) => socket.end(), "rig.garbled", "--api-allow"],
    ["reset without a byte", (socket) => socket.resetAndDestroy(), "rig.garbled", "--api-allow"],
    ["broken off", (socket) => socket.end(json.slice(0, 35)), "rig.garbled", "ends in the middle"],
    ["an HTTP answer", (socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"), "rig.garbled", 'begins with "HTTP'],
    ["only a NUL", (socket) => socket.end("\0"), "rig.garbled", "not JSON"],
    ["more than 1 MB", (socket) => socket.end(`{"a":"${"x".repeat(1_100_000)}"}\0`), "rig.garbled", "1024 KB"],
    ["too deep", (socket) => socket.end(`${"[".repeat(100_000)}\0`), "rig.garbled", "32 levels"],
  ])("%s", async (_, answer, code, words) => {
    const failure = ask(answer);
    await expect(failure).rejects.toMatchObject({ code, message: expect.stringContaining(words) });
    await expect(failure).rejects.toMatchObject({ message: expect.stringContaining(`127.0.0.1:${server?.port}`) });
  });

  test("nothing listens", async () => {
    const rpc = rpcTransport("127.0.0.1", await closedPort());
    await expect(rpc.send("summary", undefined, deadline())).rejects.toMatchObject({
      code: "rig.unreachable",
      message: expect.stringContaining("refused"),
    });
  });

  test("a name that leads to a forbidden address is not followed", async () => {
    // The resolver reads this as 169.254.0.1, as it does for everybody.
    await expect(rpcTransport("0xa9fe0001", 80).send("summary", undefined, deadline())).rejects.toMatchObject({
      code: "rig.unreachable",
      message: expect.stringContaining("never a rig"),
    });
  });

  test("no answer within the deadline", async () => {
    await expect(ask(() => {}, deadline(50))).rejects.toMatchObject({
      code: "rig.timeout",
      message: expect.stringContaining("in time"),
    });
  });

  test("an answer that trickles is cut at the deadline", async () => {
    const { answer, signal } = trickling("x");
    await expect(ask(answer, signal)).rejects.toMatchObject({
      code: "rig.timeout",
      message: expect.stringContaining("bytes received"),
    });
  });

  test("closing the transport cancels open exchanges, and nothing is sent afterwards", async () => {
    const server = await serve(() => rpc.close());
    const rpc = rpcTransport("127.0.0.1", server.port);
    await expect(rpc.send("summary", undefined, deadline())).rejects.toMatchObject({ code: "rig.timeout" });
    await expect(rpc.send("restart", undefined, deadline())).rejects.toMatchObject({ code: "rig.timeout" });
    expect(server.connections()).toBe(1);
  });
});
