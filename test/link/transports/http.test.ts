import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:https";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "@jest/globals";
import { momentNow, SendDeadline, sendingBefore } from "../../../src/async/send-deadline.ts";
import { type HttpTransport, httpTransport, words } from "../../../src/link/transports/http.ts";
import { limits } from "../../until.ts";
import { closedPort, http, serve, type TinyServer } from "../servers.ts";

const deadline = (ms = limits.waitMs): AbortSignal => AbortSignal.timeout(ms);

/** The one that was started last. */
let server: TinyServer | undefined;

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

  test("is not sent if its service may not act any more once the connection is open", async () => {
    const asked: string[] = [];
    const transport = await device((socket, request) => {
      asked.push(request);
      socket.end(http(200, "{}"));
    });
    const lease = new SendDeadline();
    lease.moveTo(momentNow(), limits.waitMs);
    const send = (path: string) => sendingBefore(lease, () => transport.send({ method: "PATCH", path }, deadline()));
    const late = send("/late");
    // As if the process stood still while it was connecting.
    lease.end();
    await expect(late).rejects.toMatchObject({ code: "rig.unconfirmed" });
    await transport.send({ method: "GET", path: "/read" }, deadline());
    lease.moveTo(momentNow(), limits.waitMs);
    await send("/again");
    expect(asked.map((request) => request.split(" ", 2).join(" "))).toEqual(["GET /read", "PATCH /again"]);
  });

  test("without a body says so where the method usually has one, and names the host", async () => {
    const asked: string[] = [];
    const transport = await device((socket, request) => {
      asked.push(request);
      socket.end(http(200, "{}"));
    });
    await transport.send({ method: "GET", path: "/a" }, deadline());
    await transport.send({ method: "POST", path: "/a" }, deadline());
    expect(asked.map((request) => request.includes("content-length: 0\r\n"))).toEqual([false, true]);
    expect(asked[0]).toContain(`\r\nhost: ${transport.at}\r\n`);
  });

  test.each<[string, { path?: string; headers?: Record<string, string> }]>([
    ["path", { path: "/a b" }],
    ["path", { path: "/a HTTP/1.1\r\nx: y" }],
    ["authorization", { headers: { authorization: "Bearer a\r\nx: y" } }],
    ["authorization", { headers: { authorization: "Bearer ключ" } }],
  ])("with characters in the %s that HTTP does not allow is not sent: %j", async (what, odd) => {
    const transport = await device((socket) => socket.end(http(200, "{}")));
    await expect(transport.send({ method: "GET", path: "/", ...odd }, deadline())).rejects.toMatchObject({
      code: "input.invalid",
      message: `${transport.at}: the ${what} contains characters that HTTP does not allow`,
    });
    expect(server?.connections()).toBe(0);
  });

  test("goes over TLS with any certificate", async () => {
    const folder = mkdtempSync(join(tmpdir(), "rigbridge-tls-"));
    const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    const options = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=rig"];
    execFileSync("openssl", ["req", "-x509", ...options, "-keyout", key, "-out", cert], { stdio: "ignore" });
    const body = JSON.stringify({ text: "x".repeat(200_000) });
    const secure = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
      request.on("data", () => {}).on("end", () => response.end(request.method === "GET" ? body : "{}"));
    });
    try {
      await once(secure.listen(0, "127.0.0.1"), "listening");
      const address = secure.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      const transport = httpTransport("127.0.0.1", port, true);
      await expect(transport.getJson("/", deadline())).resolves.toEqual({ value: JSON.parse(body), notes: [] });
      await expect(
        transport.send({ method: "POST", path: "/", body: { a: "b".repeat(100_000) } }, deadline()),
      ).resolves.toMatchObject({ status: 200, body: "{}" });
      const plain = httpTransport("127.0.0.1", port, false);
      await expect(plain.getJson("/", deadline())).rejects.toMatchObject({ code: "rig.garbled" });
    } finally {
      secure.close();
      rmSync(folder, { recursive: true });
    }
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

  test("of one connection does not mix with those of others that arrive at the same time", async () => {
    const transport = await device((socket, request) => {
      const name = /GET \/(\S+)/.exec(request)?.[1] ?? "";
      const bytes = http(200, JSON.stringify({ name, text: name.repeat(20_000) }));
      let at = 0;
      const next = (): void => {
        const end = at + 30_011;
        if (at < bytes.length) socket.write(bytes.subarray(at, end), () => setImmediate(next));
        at = end;
      };
      next();
    });
    const names = Array.from({ length: 40 }, (_, index) => `n${index}`);
    const replies = await Promise.all(names.map((name) => transport.getJson(`/${name}`, deadline())));
    expect(replies.map(({ value }) => value)).toEqual(names.map((name) => ({ name, text: name.repeat(20_000) })));
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
    ["two lengths", http(200, "{}", ["Content-Length: 3"]), "rig.garbled", "with two lengths"],
    ["two framings", http(200, "{}", ["Transfer-Encoding: chunked"]), "rig.garbled", "with a length and in chunks"],
    ["an endless head", `HTTP/1.1 200 OK\r\nX: ${"x".repeat(20_000)}`, "rig.garbled", "16 KB"],
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
