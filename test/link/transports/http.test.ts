import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { type HttpTransport, httpTransport, words } from "../../../src/link/transports/http.ts";
import { closedPort, http, serve, type TinyServer } from "../servers.ts";

const deadline = (ms = 5_000): AbortSignal => AbortSignal.timeout(ms);

let server: TinyServer | undefined;
afterEach(() => server?.close());

async function device(answer: (socket: Socket, request: string) => void): Promise<HttpTransport> {
  server = await serve(answer);
  return httpTransport("127.0.0.1", server.port, false);
}

describe("a call", () => {
  test("has exactly application/json, its length, and connection: close", async () => {
    let asked = "";
    const transport = await device((socket, request) => {
      asked = request;
      socket.end(http(200, "{}"));
    });
    await transport.send({ method: "PATCH", path: "/api", headers: { "X-A": "b" }, body: { a: "é" } }, deadline());
    const [head, body] = asked.split("\r\n\r\n");
    expect(head?.split("\r\n")).toEqual(
      expect.arrayContaining([
        "PATCH /api HTTP/1.1",
        "X-A: b",
        "content-type: application/json",
        "content-length: 10",
        "connection: close",
      ]),
    );
    expect(body).toBe('{"a":"é"}');
  });

  test("has a connection of its own", async () => {
    const transport = await device((socket) => socket.write(http(200, '{"a":1}')));
    await transport.getJson("/a", deadline());
    await transport.getJson("/b", deadline());
    expect(server?.connections()).toBe(2);
  });
});

describe("a reply", () => {
  test("that the device sends twice is read once", async () => {
    const once = http(200, '{"result":{"status":"OK"}}', ["Connection: close"]);
    const transport = await device((socket) => socket.end(Buffer.concat([once, once])));
    await expect(transport.send({ method: "POST", path: "/json_rpc", body: {} }, deadline())).resolves.toMatchObject({
      status: 200,
      body: '{"result":{"status":"OK"}}',
    });
  });

  test("with bytes behind it is read without them", async () => {
    const transport = await device((socket) =>
      socket.end(Buffer.concat([http(200, '{"a":1}'), Buffer.from("OK\r\n")])),
    );
    await expect(transport.getJson("/", deadline())).resolves.toEqual({ value: { a: 1 }, notes: [] });
  });

  test("in broken JSON is repaired with a note", async () => {
    const transport = await device((socket) => socket.end(http(200, '{"pools":[{"a":1}{"a":2}]}')));
    await expect(transport.getJson("/", deadline())).resolves.toEqual({
      value: { pools: [{ a: 1 }, { a: 2 }] },
      notes: ["missing commas were added"],
    });
  });

  test("that is compressed is unpacked, whether requested or not", async () => {
    const transport = await device((socket) => socket.end(http(200, gzipSync("<title>"), ["Content-Encoding: gzip"])));
    await expect(transport.call({ method: "GET", path: "/" }, deadline())).resolves.toMatchObject({ body: "<title>" });
  });
});

describe("an error", () => {
  test.each<[string, Buffer | string, string, string]>([
    ["a refusal in the device's words", http(400, '{"error":"Wrong API input"}'), "rig.refused", "400 Wrong API input"],
    ["a refusal in plain text", http(500, "content too long"), "rig.refused", "500 content too long"],
    ["a refusal with a page", http(404, "<html>"), "rig.refused", ": 404"],
    ["missing credentials", http(401, ""), "rig.refused", "credentials are missing or wrong"],
    ["a redirect", http(302, "", ["Location: http://evil/"]), "rig.refused", "not followed"],
    ["not HTTP", "SSH-2.0-OpenSSH_9.2\r\n", "rig.garbled", "not HTTP"],
    ["not JSON", http(200, "<html>"), "rig.garbled", 'begins with "<html>"'],
    ["broken off", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", "rig.garbled", "broke off"],
    ["no answer", "", "rig.garbled", "closed without an answer"],
    ["too large", http(200, "x".repeat(1_100_000)), "rig.garbled", "1024 KB"],
    ["a bomb", http(200, gzipSync(Buffer.alloc(5_000_000)), ["Content-Encoding: gzip"]), "rig.garbled", "unpacked"],
  ])("%s", async (_, answer, code, said) => {
    const transport = await device((socket) => socket.end(answer));
    const failure = transport.getJson("/x", deadline());
    await expect(failure).rejects.toMatchObject({ code, message: expect.stringContaining(said) });
    await expect(failure).rejects.toMatchObject({ message: expect.stringContaining(transport.at) });
  });

  test("nothing listens", async () => {
    const transport = httpTransport("127.0.0.1", await closedPort(), false);
    await expect(transport.getJson("/", deadline())).rejects.toMatchObject({ code: "rig.unreachable" });
  });

  test("silence and a trickling reply end at the deadline", async () => {
    const silent = await device(() => {});
    await expect(silent.getJson("/", deadline(50))).rejects.toMatchObject({ code: "rig.timeout" });
    await server?.close();
    const slow = await device((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n");
      const timer = setInterval(() => socket.write("x"), 5);
      socket.once("close", () => clearInterval(timer));
    });
    await expect(slow.getJson("/", deadline(80))).rejects.toMatchObject({ code: "rig.timeout" });
  });

  test("closing the transport cancels open exchanges", async () => {
    const transport: HttpTransport = await device(() => transport.close());
    await expect(transport.getJson("/", deadline())).rejects.toMatchObject({ code: "rig.timeout" });
  });
});

test.each([
  ['{"message":"System will restart\\nshortly."}', "System will restart shortly."],
  ['{"status":401,"error":"UNAUTHORIZED"}', "UNAUTHORIZED"],
  ["Wrong API input", "Wrong API input"],
  ["<html>", ""],
  ["", ""],
  ["[1]", ""],
])("of %j the words are %j", (body, said) => {
  expect(words(body)).toBe(said);
});
