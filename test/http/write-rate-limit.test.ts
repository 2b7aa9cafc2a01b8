import { createHash } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { writeRateLimit } from "../../src/http/write-rate-limit.ts";
import { serve } from "./wire.ts";

const limits = { writeBurst: 3, writesPerSecond: 2 };

describe("a client", () => {
  test("changes so many things at once, and then as many a second as there may be", () => {
    let now = 0;
    const rate = writeRateLimit(limits, () => now);
    const tries = (count: number) => Array.from({ length: count }, () => rate.wait("a"));
    expect(tries(5)).toEqual([0, 0, 0, 1, 1]);
    now = 499;
    expect(rate.wait("a")).toBe(1);
    now = 500;
    expect(tries(2)).toEqual([0, 1]);
    now = 60_000;
    expect(tries(4)).toEqual([0, 0, 0, 1]);
  });

  test("goes into debt for what its requests cost beside, as far as a fifth of what may pass at once", () => {
    let now = 0;
    const rate = writeRateLimit(limits, () => now);
    expect([rate.charge("a", 3), rate.charge("a", 0.5), rate.charge("a", 0.5)]).toEqual([0, 0, 1]);
    expect([rate.wait("a"), rate.wait("b")]).toEqual([1, 0]);
    now = 700;
    expect(rate.wait("a")).toBe(1);
    now = 800;
    expect(rate.wait("a")).toBe(0);
  });

  test("gets the number of seconds to wait if it is more than one", () => {
    const rate = writeRateLimit({ writeBurst: 1, writesPerSecond: 0.1 }, () => 0);
    expect([rate.wait("a"), rate.wait("a")]).toEqual([0, 10]);
  });

  test("does not wait for another", () => {
    const rate = writeRateLimit({ writeBurst: 1, writesPerSecond: 1 }, () => 0);
    expect([rate.wait("a"), rate.wait("a"), rate.wait("b")]).toEqual([0, 1, 0]);
  });

  test("is forgotten when very many others came since", () => {
    const rate = writeRateLimit({ writeBurst: 1, writesPerSecond: 1 }, () => 0);
    rate.wait("first");
    for (let other = 0; other < 10_000; other += 1) rate.wait(`other ${other}`);
    expect(rate.wait("first")).toBe(0);
  });
});

describe("a server", () => {
  const rare = { writeBurst: 2, writesPerSecond: 0.01 };
  const act = "/api/miners/1?action=stop";

  test("answers 429 with the time to wait, and goes on answering reads", async () => {
    const served = await serve({}, rare);
    const statuses: number[] = [];
    for (const method of ["POST", "DELETE", "PATCH"])
      statuses.push((await served.ask(method, method === "DELETE" ? "/api/pools/1" : act)).status);
    const refused = await served.ask("POST", act);
    expect([statuses, refused.status, refused.json.code]).toEqual([[200, 200, 429], 429, "too.many"]);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(1);
    expect((await served.ask("GET", "/api/summary")).status).toBe(200);
    expect(served.calls.map(({ name }) => name)).toEqual(["minerAction", "deletePool", "getSummary"]);
    await served.server.close();
  });

  test("counts 5,000 bytes of a body as one change, of whatever operation", async () => {
    const json = { "content-type": "application/json" };
    const body = `{"a":"${"x".repeat(19_990)}"}`;
    for (const path of [act, "/api/pools"]) {
      const served = await serve({}, { writeBurst: 10, writesPerSecond: 0.01 });
      const send = () => served.ask("POST", path, { headers: json, body });
      // What the first two cost keeps the third from being looked at.
      expect([await send(), await send()].map(({ status }) => status)).not.toContain(429);
      const refused = await send();
      expect([refused.status, refused.json.code]).toEqual([429, "too.many"]);
      expect(Number(refused.headers["retry-after"])).toBeGreaterThan(1);
      await served.server.close();
    }
    const small = await serve({}, { writeBurst: 1, writesPerSecond: 0.01 });
    expect((await small.ask("POST", act, { headers: json, body })).status).toBe(429);
    expect(small.calls).toEqual([]);
    await small.server.close();
  });

  test("keeps those apart whom a trusted proxy names, and users with keys of their own wherever they are", async () => {
    const key = "the-key-of-the-service";
    const own = "the-key-of-anna-1234";
    const served = await serve({ key, trustedProxies: ["127.0.0.1"] }, { ...rare, writeBurst: 1 });
    const digest = createHash("sha256").update(own).digest("hex");
    Object.assign(served.service, { keyHolder: (of: string) => (of === digest ? { id: 3, name: "anna" } : undefined) });
    const from = async (client: string, with_: string) =>
      (await served.ask("POST", `${act}&key=${with_}`, { headers: { "x-forwarded-for": client } })).status;
    expect([await from("10.0.0.1", key), await from("10.0.0.1", key), await from("10.0.0.2", key)]).toEqual([
      200, 429, 200,
    ]);
    expect([await from("10.0.0.1", own), await from("10.0.0.2", own)]).toEqual([200, 429]);
    await served.server.close();
  });

  test("is not used up by clients that are not admitted", async () => {
    const key = "the-key-of-the-service";
    const served = await serve({ key }, { ...rare, writeBurst: 1 });
    for (let guess = 0; guess < 5; guess += 1) expect((await served.ask("POST", act)).status).toBe(401);
    expect((await served.ask("POST", `${act}&key=${key}`)).status).toBe(200);
    await served.server.close();
  });
});
