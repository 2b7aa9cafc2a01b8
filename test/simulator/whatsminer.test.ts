import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { decrypted, encrypted, frameSeal, type RpcSeal, rpcSeal } from "../../src/link/drivers/whatsminer/crypto.ts";
import { framed, frameTransport } from "../../src/link/transports/frames.ts";
import type { SimulatedRig, WhatsminerSpec } from "../../src/simulator/index.ts";
import { stoppedClock } from "../clock.ts";
import { startRig } from "../simulated-rig.ts";
import { limits, within } from "../until.ts";
import { ask, objectOf, records } from "./ask.ts";

const clock = stoppedClock();

const start = (spec: Partial<WhatsminerSpec> = {}): Promise<SimulatedRig> =>
  startRig({ kind: "whatsminer", warm: true, name: "wm-1", ...spec }, clock.now);

const command = async (rig: SimulatedRig, request: object) =>
  objectOf(JSON.parse(await ask(rig, JSON.stringify(request))));

/** A token, and the key that it gives with a password. */
async function sealOf(rig: SimulatedRig, password = "admin"): Promise<RpcSeal> {
  const { time, salt, newsalt } = objectOf((await command(rig, { cmd: "get_token" })).Msg);
  return rpcSeal(password, { time: String(time), salt: String(salt), newsalt: String(newsalt) });
}

async function write(rig: SimulatedRig, { sign, key }: RpcSeal, request: object): Promise<unknown> {
  const data = encrypted(JSON.stringify({ ...request, token: sign }), key);
  const reply = await command(rig, { enc: 1, data });
  return typeof reply.enc === "string" ? JSON.parse(decrypted(reply.enc, key) ?? "") : reply;
}

const frames = (rig: SimulatedRig, request: Record<string, unknown>) =>
  frameTransport(rig.host, rig.port)
    .ask(request, AbortSignal.timeout(limits.waitMs))
    .then(({ value }) => objectOf(value));

describe("the RPC of a virtual WhatsMiner", () => {
  test("ends its answers with a line feed and the connection, without NUL", async () => {
    const rig = await start();
    expect(await ask(rig, '{"cmd":"summary"}')).toMatch(/^\{.*\}\n$/);
  });

  test("accepts a command under either name, and joins only answers with sections", async () => {
    const rig = await start();
    const [summary] = records(await command(rig, { command: "summary" }), "SUMMARY");
    expect(summary).toMatchObject({ Elapsed: 3600, "Power Mode": "Normal", MAC: rig.mac });
    const joined = await command(rig, { cmd: "summary+pools+devs" });
    expect(Object.keys(joined)).toEqual(["summary", "pools", "devs", "id"]);
    expect(records(objectOf(records(joined, "devs")[0]), "DEVS")).toHaveLength(3);
    expect(await command(rig, { cmd: "summary+get_version" })).toMatchObject({ STATUS: "E", Code: 45 });
    expect(await command(rig, { cmd: "nothing" })).toMatchObject({ STATUS: "E", Code: 14 });
    expect(await ask(rig, "{nonsense")).toContain('"Code":23');
  });

  test("has answers without sections in Msg", async () => {
    const rig = await start();
    expect(await command(rig, { cmd: "get_version" })).toMatchObject({ STATUS: "S", Msg: { api_ver: "2.0.5" } });
    expect(await command(rig, { cmd: "status" })).toMatchObject({ Msg: { mineroff: "false" } });
    expect(await command(rig, { cmd: "get_miner_info" })).toMatchObject({ Msg: { mac: rig.mac, ledstat: "auto" } });
  });

  test("reports errors as one object instead of a list, and older firmware in the summary", async () => {
    const newer = await start({ errors: [329, 110] });
    const { error_code: codes } = objectOf((await command(newer, { cmd: "get_error_code" })).Msg);
    expect(Object.keys(objectOf(codes))).toEqual(["110", "329"]);
    const older = await start({ generation: "v1", errors: [329] });
    expect(await command(older, { cmd: "get_error_code" })).toMatchObject({ Code: 14 });
    expect(await command(older, { cmd: "get_miner_info" })).toMatchObject({ Code: 14 });
    const [summary] = records(await command(older, { cmd: "summary" }), "SUMMARY");
    expect(summary).toMatchObject({ "Error Code Count": 1, "Error Code 0": 329 });
  });

  test("resets a second connection while it holds one", async () => {
    const rig = await start();
    const held = connect({ host: rig.host, port: rig.port, allowHalfOpen: true });
    held.write('{"cmd":"summary"}');
    await within(once(held, "data"), "the rig to answer the first connection");
    const second = connect(rig.port, rig.host);
    second.write('{"cmd":"summary"}');
    await expect(within(once(second, "data"), "the rig to reset the second connection")).rejects.toMatchObject({
      code: "ECONNRESET",
    });
    held.end();
    await within(once(held, "close"), "the first connection to close");
    expect(await ask(rig, '{"cmd":"summary"}')).toContain("SUMMARY");
  });
});

describe("a write over RPC", () => {
  test("works with a token until that expires", async () => {
    const rig = await start();
    const seal = await sealOf(rig);
    expect(await write(rig, seal, { cmd: "power_off", respbefore: "true" })).toMatchObject({ STATUS: "S", Code: 131 });
    expect(rig.model.mining).toBe(false);
    expect(rig.requests.writes).toEqual(['power_off {"respbefore":"true"}']);
    clock.pass(29 * 60);
    expect(await write(rig, seal, { cmd: "power_on" })).toMatchObject({ Code: 131 });
    clock.pass(2 * 60);
    expect(await write(rig, seal, { cmd: "power_off" })).toMatchObject({ STATUS: "E", Code: 135 });
    expect(rig.model.mining).toBe(true);
  });

  test("is not understood with another password, and not allowed unencrypted", async () => {
    const rig = await start();
    expect(await write(rig, await sealOf(rig, "other"), { cmd: "power_off" })).toMatchObject({
      Code: 23,
      Msg: "enc json load err",
    });
    expect(await command(rig, { cmd: "power_off" })).toMatchObject({ Code: 45, Msg: "can't access write cmd" });
    expect(rig.model.mining).toBe(true);
  });

  test("has one of sixteen tokens", async () => {
    const rig = await start();
    for (let count = 0; count < 16; count += 1) await sealOf(rig);
    expect(await command(rig, { cmd: "get_token" })).toMatchObject({ STATUS: "E", Code: 136 });
    clock.pass(31 * 60);
    expect(await command(rig, { cmd: "get_token" })).toMatchObject({ STATUS: "S", Code: 134 });
  });

  test("is refused where writing over the API is not enabled", async () => {
    const rig = await start({ writable: false });
    expect(await command(rig, { cmd: "get_token" })).toMatchObject({ Code: 45, Msg: "can't access write cmd" });
  });

  test.each([
    { cmd: "adjust_power_limit", power_limit: "many" },
    { cmd: "set_power_pct", percent: "101" },
    { cmd: "update_pools", pool1: "", worker1: "", passwd1: "" },
    { cmd: "update_pools", pool1: "http://pool.example.com" },
    { cmd: "set_led" },
  ])("that makes no sense changes nothing: %j", async (request) => {
    const rig = await start();
    const before = JSON.stringify([rig.model.level, rig.model.pools]);
    expect(await write(rig, await sealOf(rig), request)).toMatchObject({ STATUS: "E", Code: 132 });
    expect(JSON.stringify([rig.model.level, rig.model.pools])).toBe(before);
  });

  test("of an invalid limit removes the limit", async () => {
    const rig = await start();
    const full = rig.model.level;
    await write(rig, await sealOf(rig), { cmd: "adjust_power_limit", power_limit: "2000" });
    clock.pass(60);
    expect(rig.model.powerAt(rig.model.level)).toBeCloseTo(2000);
    await write(rig, await sealOf(rig), { cmd: "adjust_power_limit", power_limit: "99999" });
    expect(rig.model.level).toBe(full);
  });
});

describe("the frames of a virtual WhatsMiner of v3", () => {
  const signed = (cmd: string, param: unknown, salt: unknown, password = "super", account = "super") => {
    const ts = 1_800_000_000;
    const { token } = frameSeal(cmd, password, String(salt), ts);
    return { cmd, param, ts, token, account };
  };

  test("return everything about the device, or one section", async () => {
    const rig = await start({ generation: "v3", errors: [541] });
    const whole = objectOf((await frames(rig, { cmd: "get.device.info" })).msg);
    expect(whole).toMatchObject({
      network: { mac: rig.mac, hostname: "wm-1" },
      miner: { type: "M60S_VK40", working: "true" },
      system: { apiswitch: "1" },
      "error-code": [{ "541": expect.any(String) }],
    });
    expect(await frames(rig, { cmd: "get.device.info", param: "salt" })).toMatchObject({
      code: 0,
      msg: { salt: whole.salt },
    });
  });

  test("use TH/s, need the name of a section, and have no pools while the boards are off", async () => {
    const rig = await start({ generation: "v3" });
    expect(await frames(rig, { cmd: "get.miner.status" })).toMatchObject({ code: -3 });
    const status = objectOf((await frames(rig, { cmd: "get.miner.status", param: "summary+pools+edevs" })).msg);
    expect(objectOf(status.summary)["hash-realtime"]).toBeCloseTo(rig.model.hashrate(5) / 1e12, 1);
    rig.model.change((model) => {
      model.mining = false;
    });
    expect(await frames(rig, { cmd: "get.miner.status", param: "pools" })).toMatchObject({ code: -1 });
    const off = objectOf((await frames(rig, { cmd: "get.miner.status", param: "summary+pools" })).msg);
    expect(Object.keys(off)).toEqual(["summary"]);
  });

  test("accept only signed writes", async () => {
    const rig = await start({ generation: "v3" });
    const { salt } = objectOf((await frames(rig, { cmd: "get.device.info", param: "salt" })).msg);
    const stop = ["set.miner.service", "stop"] as const;
    expect(await frames(rig, { cmd: stop[0], param: stop[1] })).toMatchObject({ code: -1 });
    expect(await frames(rig, signed(...stop, salt, "other"))).toMatchObject({ code: -1 });
    expect(await frames(rig, signed(...stop, salt, "super", "user1"))).toMatchObject({ code: -4 });
    expect(await frames(rig, signed("set.miner.nothing", 1, salt))).toMatchObject({ code: -2 });
    expect(rig.model.mining).toBe(true);
    expect(await frames(rig, signed(...stop, salt))).toMatchObject({ code: 0, msg: "ok" });
    expect(rig.model.mining).toBe(false);
    const percent = signed("set.miner.power_percent", { percent: 50, mode: "fast" }, salt);
    expect(await frames(rig, percent)).toMatchObject({ code: -1 });
  });

  test("answer several requests on one connection, but not heartbeats", async () => {
    const rig = await start({ generation: "v3" });
    const socket = connect(rig.port, rig.host);
    const request = framed('{"cmd":"get.miner.setting"}');
    socket.write(Buffer.concat([Buffer.alloc(4), request, Buffer.alloc(8), request]));
    let text = "";
    for await (const chunk of socket) {
      text += String(chunk);
      if (text.split("power-mode").length === 3) break;
    }
    expect(text.split('"code":0')).toHaveLength(3);
  });

  test("are the only API where the older one is disabled", async () => {
    const rig = await start({ generation: "v3", compatible: false });
    expect(await frames(rig, { cmd: "get.miner.setting" })).toMatchObject({ code: 0 });
    await expect(ask(rig, '{"cmd":"summary"}')).rejects.toMatchObject({ code: "ECONNRESET" });
  });
});

test("the web server of a virtual WhatsMiner redirects to TLS", async () => {
  const rig = await start();
  const reply = await fetch(`http://${rig.address}/`, { redirect: "manual" });
  expect(reply.status).toBe(307);
  expect(reply.headers.get("location")).toMatch(/^https:.*\/cgi-bin\/luci$/);
});

test("a limit, a mode and a throttle reduce its power, and a restart ends the throttle", async () => {
  const rig = await start({ restartSeconds: 30 });
  await write(rig, await sealOf(rig), { cmd: "set_power_pct", percent: "50" });
  expect(rig.model.powerAt(rig.model.level)).toBeCloseTo(rig.model.powerAt(0.9) / 2, -1);
  await write(rig, await sealOf(rig), { cmd: "set_low_power" });
  await expect(ask(rig, '{"cmd":"summary"}')).rejects.toMatchObject({ code: "ECONNRESET" });
  clock.pass(60);
  expect(rig.model.level).toBeCloseTo(0.7);
  const [summary] = records(await command(rig, { cmd: "summary" }), "SUMMARY");
  expect(summary).toMatchObject({ Elapsed: 30, "Power Mode": "Low" });
});
