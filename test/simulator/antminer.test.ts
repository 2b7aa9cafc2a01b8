import { createHash } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { parseAddress } from "../../src/link/address.ts";
import { digestTransport } from "../../src/link/transports/digest.ts";
import { type HttpReply, type HttpTransport, httpTransport } from "../../src/link/transports/http.ts";
import { exchange } from "../../src/link/transports/rpc.ts";
import { type AntminerSpec, type SimulatedRig, standardPorts } from "../../src/simulator/index.ts";
import { deadline } from "../link/rigs.ts";
import { startRig } from "../simulated-rig.ts";

let now = Date.UTC(2026, 0, 1);

const start = (spec: Partial<AntminerSpec> = {}): Promise<SimulatedRig> =>
  startRig({ kind: "antminer", warm: true, restartSeconds: 60, ...spec }, () => now);

const bare = (rig: SimulatedRig): HttpTransport => httpTransport(parseAddress(rig.address).host, rig.port, false);
const web = (rig: SimulatedRig): HttpTransport => digestTransport(bare(rig), { username: "root", password: "root" });
const page = (name: string): string => `/cgi-bin/${name}.cgi`;
const get = async (rig: SimulatedRig, name: string): Promise<unknown> =>
  (await web(rig).getJson(page(name), deadline())).value;
const post = (rig: SimulatedRig, name: string, body: unknown): Promise<HttpReply> =>
  web(rig).call({ method: "POST", path: page(name), body }, deadline());

async function rpc(rig: SimulatedRig, request: object): Promise<unknown> {
  const target = { host: "127.0.0.1", port: rig.port, at: rig.address };
  return (await exchange(target, JSON.stringify(request), deadline())).value;
}

describe("the login of a virtual Antminer", () => {
  test("protects every page, with the realm of Bitmain's", async () => {
    const rig = await start();
    for (const path of ["/", page("stats"), "/nowhere"]) {
      const reply = await bare(rig).call({ method: "GET", path }, deadline());
      expect(reply.status).toBe(401);
      expect(reply.headers["www-authenticate"]).toMatch(
        /^Digest realm="antMiner Configuration", nonce="[0-9a-f:]+", qop="auth"$/,
      );
    }
  });

  test("accepts only a digest of the password, the method and the path", async () => {
    const rig = await start({ password: "other" });
    await expect(web(rig).getJson(page("stats"), deadline())).rejects.toMatchObject({ code: "rig.login" });
    const md5 = (...parts: string[]) => createHash("md5").update(parts.join(":")).digest("hex");
    const { headers } = await bare(rig).call({ method: "GET", path: "/" }, deadline());
    const nonce = /nonce="([^"]*)"/.exec(headers["www-authenticate"] ?? "")?.[1] ?? "";
    const answer = md5(
      md5("root", "antMiner Configuration", "other"),
      nonce,
      "00000001",
      "ab",
      "auth",
      md5("GET", "/"),
    );
    const authorization = `Digest username="root", nonce="${nonce}", uri="/", response="${answer}", qop=auth, nc=00000001, cnonce="ab"`;
    const ask = (path: string, method: "GET" | "POST" = "GET") =>
      bare(rig).call({ method, path, headers: { authorization } }, deadline());
    await expect(ask("/")).resolves.toMatchObject({ status: 200 });
    await expect(ask(page("stats"))).resolves.toMatchObject({ status: 401 });
    await expect(ask("/", "POST")).resolves.toMatchObject({ status: 401 });
    now += 601_000;
    const old = await ask("/");
    expect(old).toMatchObject({ status: 401, headers: { "www-authenticate": expect.stringContaining("stale=true") } });
  });
});

describe("the RPC of a virtual Antminer", () => {
  test("is read-only, one command at a time", async () => {
    const rig = await start();
    await expect(rpc(rig, { command: "version" })).resolves.toMatchObject({ VERSION: [{ Type: "Antminer S19" }] });
    await expect(rpc(rig, { command: "summary+stats" })).resolves.toMatchObject({
      STATUS: [{ STATUS: "E", Code: 14 }],
    });
    await expect(rpc(rig, { command: "switchpool", parameter: "1" })).resolves.toMatchObject({
      STATUS: [{ Code: 45 }],
    });
  });

  test("has the newer statistics on request", async () => {
    const rig = await start({ model: "S23" });
    await expect(rpc(rig, { command: "stats", new_api: true })).resolves.toMatchObject({
      STATS: [{ chain_num: 3, watt: expect.any(Number) }],
    });
    await expect(rpc(rig, { command: "stats" })).resolves.toMatchObject({
      STATS: [{ Type: "Antminer S23" }, { chain_acn1: 132 }],
    });
  });
});

describe("the new pages of a virtual Antminer", () => {
  test("report the mode under another name than the one that is written", async () => {
    const rig = await start();
    const document = {
      "bitmain-fan-ctrl": false,
      "bitmain-fan-pwm": "100",
      "freq-level": "100",
      "miner-mode": 1,
      pools: [],
    };
    const reply = await post(rig, "set_miner_conf", document);
    expect(JSON.parse(reply.body)).toEqual({ stats: "success", code: "M000", msg: "OK!" });
    const config = await get(rig, "get_miner_conf");
    expect(config).toMatchObject({
      "bitmain-work-mode": "1",
      pools: [{ user: "acct.antminer-1", pass: "x" }, {}, { url: "" }],
    });
    expect(config).not.toHaveProperty("miner-mode");
  });

  test("answer with plain text while the mining program restarts, and list no statistics while asleep", async () => {
    const rig = await start();
    const document = {
      "bitmain-fan-ctrl": false,
      "bitmain-fan-pwm": "100",
      "freq-level": "100",
      "miner-mode": "1",
      pools: [],
    };
    await post(rig, "set_miner_conf", document);
    const { body } = await web(rig).send({ method: "GET", path: page("stats") }, deadline());
    expect(body).toBe("Socket connect failed: Connection refused\n");
    await expect(rpc(rig, { command: "summary" })).rejects.toMatchObject({ code: "rig.garbled" });
    now += 61_000;
    await expect(get(rig, "stats")).resolves.toMatchObject({ STATS: [] });
  });

  test.each([["no JSON"], [{ "miner-mode": 7 }], [{ pools: "all" }]])(
    "refuse %j and keep what was",
    async (document) => {
      const rig = await start();
      const reply = await post(rig, "set_miner_conf", document);
      expect(JSON.parse(reply.body)).toMatchObject({ stats: "error", code: "M001" });
      expect(rig.model.pools).toHaveLength(2);
      expect(JSON.parse((await post(rig, "blink", { blink: "perhaps" })).body)).toMatchObject({ code: "B001" });
    },
  );

  test("list faults, but none of missing fans", async () => {
    const rig = await start({ model: "S21 Hydro" });
    rig.model.setPoolAlive(0, false);
    rig.model.setPoolAlive(1, false);
    await expect(get(rig, "summary")).resolves.toMatchObject({
      SUMMARY: [
        { status: [{ status: "s" }, { type: "network", status: "e" }, { type: "fans", status: "" }, { status: "s" }] },
      ],
    });
  });
});

describe("the old pages of a virtual Antminer", () => {
  test("take forms by the order of their fields, and clear absent fields", async () => {
    const rig = await start({ model: "S9" });
    const form = { _ant_pool1url: "stratum+tcp://a.example.com:1", _ant_pool1user: "u#1", _ant_pool1pw: 'p"' };
    const reply = await web(rig).send({ method: "POST", path: page("set_miner_conf"), form }, deadline());
    expect(reply.body).toBe("ok\n");
    expect(rig.model.pools).toMatchObject([{ url: "stratum+tcp://a.example.com:1", user: "u#1", password: "p%22" }]);
    const again = await web(rig).send({ method: "POST", path: page("set_miner_conf"), form: {} }, deadline());
    expect(again.body).toBe("");
    expect(rig.model.pools).toHaveLength(1);
  });

  test("have no JSON pages, and omit a comma in their statistics", async () => {
    const rig = await start({ model: "S9" });
    await expect(web(rig).call({ method: "GET", path: page("summary") }, deadline())).resolves.toMatchObject({
      status: 404,
    });
    const { body } = await web(rig).send({ method: "GET", path: page("miner_stats") }, deadline());
    expect(body).toContain("}{");
    await expect(get(rig, "miner_stats")).resolves.toMatchObject({
      STATS: [{ Type: "Antminer S9" }, { chain_acn6: 63, fan3: expect.any(Number) }],
    });
  });

  test("report whether the light blinks when asked by form", async () => {
    const rig = await start({ model: "S9" });
    const ask = async (action: string): Promise<unknown> =>
      JSON.parse((await web(rig).send({ method: "POST", path: page("blink"), form: { action } }, deadline())).body);
    await expect(ask("onPageLoaded")).resolves.toEqual({ isBlinking: false });
    await ask("startBlink");
    await expect(ask("onPageLoaded")).resolves.toEqual({ isBlinking: true });
  });
});

test("a virtual Antminer does not answer while it reboots, and then starts from zero", async () => {
  const rig = await start();
  await web(rig).send({ method: "GET", path: page("reboot") }, deadline());
  await expect(get(rig, "get_system_info")).rejects.toMatchObject({ code: expect.stringMatching(/^rig\./) });
  now += 61_000;
  await expect(get(rig, "stats")).resolves.toMatchObject({ STATS: [{ elapsed: 1 }] });
});

test("its standard ports are those of the web and of RPC", () => {
  expect(standardPorts.antminer).toEqual([80, 4028]);
});
