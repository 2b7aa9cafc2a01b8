import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type Farm, type FaultName, faults, type SimulatedRig, startFarm } from "../../src/simulator/index.ts";
import { stoppedClock } from "../clock.ts";
import { ownHost } from "../own-host.ts";
import { within } from "../until.ts";
import { ask, askUntil, send, status } from "./ask.ts";

let farm: Farm;
let cgminer: SimulatedRig;
let axeos: SimulatedRig;
let xmrig: SimulatedRig;
const clock = stoppedClock();
const summary = '{"command":"summary"}';
const pools = '{"command":"pools"}';
const info = "GET /api/system/info HTTP/1.1\r\n\r\n";

beforeEach(async () => {
  farm = await startFarm({
    rigs: [
      { kind: "cgminer", host: ownHost(), warm: true },
      { kind: "axeos", warm: true },
      { kind: "xmrig", warm: true, token: "t", restricted: false },
    ],
    clock: clock.now,
  });
  const [first, second, third] = farm.rigs;
  if (first === undefined || second === undefined || third === undefined) throw new Error("no rigs");
  cgminer = first;
  axeos = second;
  xmrig = third;
});

afterEach(() => farm.close());

/** The replies with and without the fault. */
async function both(name: FaultName, request: string): Promise<{ clean: string; faulty: string }> {
  const clean = await ask(cgminer, request);
  cgminer.fault = name;
  return { clean, faulty: await ask(cgminer, request) };
}

const body = (httpReply: string): string => httpReply.slice(httpReply.indexOf("\r\n\r\n") + 4);

describe("faults of a virtual rig", () => {
  test("off refuses connections, and ends on the same port", async () => {
    const { port } = cgminer;
    cgminer.fault = "off";
    await expect(ask(cgminer, summary)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    cgminer.powerOff();
    cgminer.fault = null;
    await cgminer.powerOn();
    expect(cgminer.port).toBe(port);
    expect(await status(cgminer, "version")).toMatch(/^S22/);
  });

  test("a fault that refuses new connections cuts open ones", async () => {
    const socket = await send(axeos, info);
    await within(once(socket, "data"), "the rig to answer");
    const closed = new Promise((resolve) => socket.on("error", () => {}).on("close", resolve));
    axeos.fault = "reset";
    await within(closed, "the rig to cut the connection");
    await expect(ask(axeos, info)).rejects.toMatchObject({ code: "ECONNRESET" });
  });

  test("reset resets the connection, close ends it without an answer", async () => {
    cgminer.fault = "reset";
    await expect(ask(cgminer, summary)).rejects.toMatchObject({ code: "ECONNRESET" });
    cgminer.fault = "close";
    expect(await ask(cgminer, summary)).toBe("");
  });

  test("silent accepts the request and does not answer, until the farm closes", async () => {
    cgminer.fault = "silent";
    const socket = await send(cgminer, summary);
    let heard = false;
    socket.on("data", () => {
      heard = true;
    });
    await fetch(`http://${axeos.address}/`);
    const closed = new Promise((resolve) => socket.on("error", () => {}).on("close", resolve));
    await farm.close();
    await within(closed, "the rig to cut the connection");
    expect(heard).toBe(false);
    expect(cgminer.requests.count).toBe(0);
  });

  test("slow sends one byte at a time, delay the whole reply late", async () => {
    const clean = await ask(cgminer, '{"command":"version"}');
    cgminer.fault = { name: "slow", ms: 1 };
    const socket = await send(cgminer, '{"command":"version"}');
    const [first] = await within(once(socket, "data"), "the rig to begin its reply");
    expect(String(first).length).toBeLessThan(clean.length);
    let rest = String(first);
    for await (const chunk of socket) rest += String(chunk);
    expect(rest).toBe(clean);
    cgminer.fault = { name: "delay", ms: 1 };
    expect(await ask(cgminer, '{"command":"version"}')).toBe(clean);
  });

  test("open answers and keeps the connection", async () => {
    cgminer.fault = "open";
    const socket = await send(cgminer, summary);
    const [reply] = await within(once(socket, "data"), "the rig to answer");
    expect(String(reply)).toMatch(/\0$/);
    await fetch(`http://${axeos.address}/`);
    expect(socket.readableEnded).toBe(false);
    socket.destroy();
  });

  test("endless never ends its reply", async () => {
    cgminer.fault = "endless";
    const socket = await send(cgminer, summary);
    let bytes = 0;
    for await (const chunk of socket) {
      bytes += Buffer.from(chunk).length;
      if (bytes > 3_000_000) break;
    }
    expect(bytes).toBeGreaterThan(3_000_000);
  });

  test.each<[FaultName, string, (clean: string) => string]>([
    ["truncated", summary, (clean) => clean.slice(0, clean.length / 2)],
    ["no-nul", summary, (clean) => clean.slice(0, -1)],
    ["trailing", summary, (clean) => `${clean}\r\nOK\r\n`],
    ["nul-inside", summary, (clean) => clean.replace('"Summary"', '"Su\0mmary"')],
    ["missing-comma", pools, (clean) => clean.replace("},{", "}{")],
    ["bom", summary, (clean) => `\u00ef\u00bb\u00bf${clean.slice(0, -1)}\r\n\0`],
    ["two-documents", summary, (clean) => clean.slice(0, -1) + clean],
    ["latin1", pools, (clean) => clean.replace('"User":"', '"User":"\u00e9')],
  ])("%s changes exactly what it says", async (name, request, change) => {
    const { clean, faulty } = await both(name, request);
    expect(faulty).not.toBe(clean);
    expect(faulty).toBe(change(clean));
  });

  test("trailing-comma and nan break the JSON and nothing else", async () => {
    const commas = await both("trailing-comma", pools);
    expect(commas.faulty).toMatch(/,\}.*,\]/);
    expect(commas.faulty.replace(/,([}\]])/g, "$1")).toBe(commas.clean);
    cgminer.fault = "nan";
    const nan = (await ask(cgminer, summary)).slice(0, -1);
    expect(nan).toMatch(/"Device Hardware%":nan,"Device Rejected%":inf/);
    expect(() => JSON.parse(nan)).toThrow();
    expect(() => JSON.parse(nan.replace(/:(-?nan|inf)/g, ":null"))).not.toThrow();
  });

  test("garbage, huge, deep and wrong-types do what their names say", async () => {
    expect((await both("garbage", summary)).faulty).toHaveLength(8193);
    cgminer.fault = "huge";
    expect((await ask(cgminer, summary)).length).toBeGreaterThan(1_000_000);
    cgminer.fault = "deep";
    expect(await ask(cgminer, summary)).toContain("[".repeat(10_000));
    cgminer.fault = "wrong-types";
    const wrong = JSON.parse((await ask(cgminer, summary)).slice(0, -1));
    expect(wrong.SUMMARY[0]).toMatchObject({ Elapsed: {}, "MHS av": null, "MHS 5s": "many", "MHS 1m": [] });
    expect(wrong.STATUS[0]).toMatchObject({ STATUS: "S", Code: 11 });
  });

  test("denied refuses every write in the protocol's words, and allows reads", async () => {
    for (const rig of farm.rigs) rig.fault = "denied";
    expect(await status(cgminer, "switchpool", "1")).toMatch(/^E45/);
    expect(await status(cgminer, "privileged")).toMatch(/^E45/);
    expect(await status(cgminer, "summary")).toMatch(/^S11/);
    expect((await fetch(`http://${axeos.address}/api/system/restart`, { method: "POST" })).status).toBe(401);
    expect((await fetch(`http://${axeos.address}/api/system/info`)).status).toBe(200);
    const headers = { authorization: "Bearer t", "content-type": "application/json" };
    const pause = { method: "POST", headers, body: '{"method":"pause"}' };
    expect((await fetch(`http://${xmrig.address}/json_rpc`, pause)).status).toBe(403);
  });

  test("over HTTP the length matches the damaged body", async () => {
    axeos.fault = "two-documents";
    const reply = await askUntil(axeos, info, "}}{");
    expect(Number(/Content-Length: (\d+)/.exec(reply)?.[1])).toBe(body(reply).length);
    axeos.fault = "http-500";
    expect((await fetch(`http://${axeos.address}/api/system/info`)).status).toBe(500);
    axeos.fault = "latin1";
    const bytes = Buffer.from(await (await fetch(`http://${axeos.address}/api/system/info`)).arrayBuffer());
    expect(bytes.includes(Buffer.from('"stratumUser":"\u00e9', "latin1"))).toBe(true);
  });

  test("every fault can be set and cleared while the rig runs", async () => {
    const clean = await ask(cgminer, summary);
    for (const name of Object.keys(faults)) {
      if (name === "off") continue;
      Object.assign(cgminer, { fault: name });
      (await send(cgminer, summary).catch(() => null))?.on("error", () => {}).destroy();
    }
    cgminer.fault = null;
    expect(await ask(cgminer, summary)).toBe(clean);
  });
});
