import { request } from "node:http";
import { describe, expect, test } from "@jest/globals";
import type { SimulatedRig, XmrigSpec } from "../../src/simulator/index.ts";
import { stoppedClock } from "../clock.ts";
import { startRig } from "../simulated-rig.ts";
import { within } from "../until.ts";
import { ask, objectOf } from "./ask.ts";

const clock = stoppedClock();

const writable = { token: "right-token", restricted: false };

const start = (spec: Omit<XmrigSpec, "kind"> = writable): Promise<SimulatedRig> =>
  startRig({ kind: "xmrig", warm: true, name: "rig-one", ...spec }, clock.now);

interface Call {
  readonly token?: string | null;
  readonly type?: string;
  readonly body?: string;
}

function call(rig: SimulatedRig, method: string, path: string, options: Call = {}): Promise<Response> {
  const { token = "right-token", type = "application/json", body = null } = options;
  const access: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
  const headers = body === null ? access : { ...access, "content-type": type };
  return fetch(`http://${rig.address}${path}`, { method, headers, body });
}

const summary = async (rig: SimulatedRig) => objectOf(await (await call(rig, "GET", "/2/summary")).json());

const rpc = async (rig: SimulatedRig, body: string) => (await call(rig, "POST", "/json_rpc", { body })).json();

const head =
  "Access-Control-Allow-Headers: Authorization, Content-Type\r\n" +
  "Access-Control-Allow-Methods: GET, PUT, POST, DELETE\r\n" +
  "Access-Control-Allow-Origin: *\r\nConnection: close\r\n";

describe("a virtual XMRig", () => {
  test("sends every JSON-RPC reply twice and closes", async () => {
    const rig = await start();
    const body = '{"method":"pause","id":1,"jsonrpc":"2.0"}';
    const reply = await ask(
      rig,
      `POST /json_rpc HTTP/1.1\r\nAuthorization: Bearer right-token\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    const once = `HTTP/1.1 200 OK\r\n${head}Content-Length: 83\r\nContent-Type: application/json\r\n\r\n{\n    "result": {\n        "status": "OK"\n    },\n    "jsonrpc": "2.0",\n    "id": 1\n}`;
    expect(reply).toBe(once + once);
  });

  test("which Node's HTTP client cannot parse", async () => {
    const rig = await start();
    const failure = new Promise((resolve) => {
      const headers = { authorization: "Bearer right-token", "content-type": "application/json" };
      const options = { host: rig.host, port: rig.port, method: "POST", path: "/json_rpc", headers, agent: false };
      const sent = request(options, (reply) => reply.resume());
      sent.on("error", (error) => resolve("code" in error && error.code));
      sent.end('{"method":"pause","id":1}');
    });
    expect(await within(failure, "the client to stumble")).toBe("HPE_CLOSED_CONNECTION");
  });

  test("refuses in a fixed order and in fixed words", async () => {
    const rig = await start();
    const bytes = await ask(rig, "GET /2/summary HTTP/1.1\r\n\r\n");
    expect(bytes).toBe(
      `HTTP/1.1 401 UNAUTHORIZED\r\n${head}Content-Length: 50\r\nContent-Type: application/json\r\n\r\n{\n    "status": 401,\n    "error": "UNAUTHORIZED"\n}`,
    );
    const body = '{"method":"pause","id":1}';
    const answers = [
      [401, await call(rig, "GET", "/2/summary", { token: null })],
      [403, await call(rig, "GET", "/2/summary", { token: "wrong" })],
      [404, await call(rig, "GET", "/nope")],
      [404, await call(rig, "GET", "/")],
      [405, await call(rig, "PATCH", "/2/summary")],
      [200, await call(rig, "OPTIONS", "/2/summary", { token: null })],
      [415, await call(rig, "POST", "/json_rpc", { body, type: "text/plain" })],
      [415, await call(rig, "POST", "/json_rpc", { body, type: "application/json; charset=utf-8" })],
      [401, await call(rig, "POST", "/json_rpc", { body, token: null })],
    ] as const;
    for (const [status, reply] of answers) expect(reply.status).toBe(status);
    expect(rig.model.mining).toBe(true);
  });

  test("restricted, it allows neither writes nor reading its configuration", async () => {
    const rig = await start({ token: "right-token" });
    expect((await call(rig, "GET", "/2/summary")).status).toBe(200);
    expect((await call(rig, "GET", "/2/config")).status).toBe(403);
    expect((await call(rig, "POST", "/json_rpc", { body: '{"method":"pause"}' })).status).toBe(403);
    expect((await call(rig, "PUT", "/2/config", { body: "{}" })).status).toBe(403);
    expect(rig.requests.writes).toEqual(['POST /json_rpc {"method":"pause"}', "PUT /2/config {}"]);
  });

  test("without a token it is open when restricted and closed when not", async () => {
    expect((await call(await start({}), "GET", "/2/summary", { token: null })).status).toBe(200);
    expect((await call(await start({ restricted: false }), "GET", "/2/summary", { token: null })).status).toBe(401);
  });

  test("summary and backends report rates in H/s, null until there are any", async () => {
    const rig = await start({ ...writable, warm: false });
    clock.pass(30);
    expect(await summary(rig)).toMatchObject({
      worker_id: "rig-one",
      uptime: 30,
      algo: "rx/0",
      paused: false,
      version: "6.26.0",
      kind: "miner",
      connection: { pool: "pool.example.com:3333" },
      hashrate: { total: [expect.any(Number), null, null] },
    });
    const older = await (await call(rig, "GET", "/api.json")).json();
    expect(older).toMatchObject({ results: { error_log: [] }, hugepages: true });
    const backends = await (await call(rig, "GET", "/2/backends")).json();
    expect(backends).toMatchObject([
      { type: "cpu", enabled: true },
      { type: "opencl", enabled: false },
      { type: "cuda" },
    ]);
  });

  test("pauses and resumes; after stop only a new configuration brings it back", async () => {
    const rig = await start();
    await rpc(rig, '{"method":"pause","id":"abc"}');
    clock.pass(20);
    expect(await summary(rig)).toMatchObject({ paused: true, hashrate: { total: [0, 0, 0] } });
    expect(await rpc(rig, '{"method":"resume"}')).toEqual({ result: { status: "OK" }, jsonrpc: "2.0", id: null });
    await rpc(rig, '{"method":"stop","id":1}');
    expect(await rpc(rig, '{"method":"resume","id":1}')).toMatchObject({ result: { status: "OK" } });
    expect(await summary(rig)).toMatchObject({ paused: false, hashrate: { total: [0, 0, 0] } });
    const body = '{"pools":[{"url":"new.example.org:3333","user":"u"}]}';
    expect((await call(rig, "PUT", "/2/config", { body })).status).toBe(204);
    clock.pass(1);
    await summary(rig);
    clock.pass(90);
    rig.model.advance();
    expect(rig.model.hashrate()).toBeGreaterThan(10_000);
  });

  test.each([
    ['{"method":"reboot","id":3}', { error: { code: -32601, message: "Method not found" }, jsonrpc: "2.0", id: 3 }],
    ['{"id":4}', { error: { code: -32600, message: "Invalid Request" }, jsonrpc: "2.0", id: 4 }],
    ["{not json", { error: { code: -32700, message: "Parse error" }, jsonrpc: "2.0", id: null }],
  ])("answers %s with 200 and an error", async (body, answer) => {
    expect(await rpc(await start(), body)).toEqual(answer);
  });

  test("a new configuration changes the pool half a second later and keeps the totals; a bad one changes nothing", async () => {
    const rig = await start();
    const { accepted } = rig.model.shares;
    const old = objectOf(await (await call(rig, "GET", "/2/config")).json());
    for (const body of ['{"pools":[]}', "{bad", '{"pools":[{"url":"a.example:1","enabled":false}]}']) {
      expect((await call(rig, "PUT", "/2/config", { body })).status).toBe(400);
    }
    const pools = [{ url: "new.example.org:3333", user: "acct.new", pass: "x" }];
    const reply = await call(rig, "PUT", "/1/config", { body: JSON.stringify({ ...old, pools }) });
    expect([reply.status, await reply.text()]).toEqual([204, ""]);
    clock.pass(0.4);
    expect(await summary(rig)).toMatchObject({ connection: { pool: "pool.example.com:3333" } });
    expect(objectOf(await (await call(rig, "GET", "/1/config")).json())).toMatchObject({ pools: old.pools });
    clock.pass(0.2);
    expect(await summary(rig)).toMatchObject({ connection: { pool: "new.example.org:3333" } });
    expect(objectOf(await (await call(rig, "GET", "/1/config")).json())).toMatchObject({ pools });
    expect(rig.model.shares.accepted).toBe(accepted);
  });
});
