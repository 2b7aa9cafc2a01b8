import { connect } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { startTwin } from "../../../src/simulator/index.ts";
import { within } from "../../until.ts";
import { bench, first } from "./bench.ts";
import { documented, MinerList, minersIn } from "./shapes.ts";

describe("an answer of the twin", () => {
  test("is exactly what is documented, for each of the 28 operations", async () => {
    const { ask } = await bench();
    expect(documented).toHaveLength(28);
    for (const { method, path, body, reply } of documented) {
      const { status, type, text } = await ask(method, path, body);
      expect({ path, status, type }).toEqual({ path, status: 200, type: "application/json; charset=utf-8" });
      const { error } = reply.safeParse(JSON.parse(text));
      expect({ path, error: error?.message }).toEqual({ path, error: undefined });
    }
  });

  test("has every kind of miner, in groups, nested groups and none", async () => {
    const { get } = await bench({ miners: 40 });
    const { groupList } = await get("/api/miners", MinerList);
    expect(groupList.map(({ id }) => id)).toEqual([1, 2, 0]);
    expect(groupList.find(({ id }) => id === 2)?.groupList?.map(({ id }) => id)).toEqual([3]);
    const miners = minersIn(groupList);
    const ids = Array.from({ length: 38 }, (_, index) => first + index);
    expect(miners.map(({ id }) => id).sort((one, other) => one - other)).toEqual([1, 2, ...ids]);
    for (const { id, groupId } of groupList.flatMap(({ id, minerList }) =>
      minerList.map((each) => ({ ...each, id })),
    )) {
      expect(groupId).toBe(id);
    }
    const count = (of: (miner: (typeof miners)[number]) => boolean) => miners.filter(of).length;
    expect(count(({ asicList }) => asicList.length === 3)).toBeGreaterThan(10);
    expect(count(({ hasGpu }) => hasGpu)).toBeGreaterThan(2);
    expect(count(({ hasCpu }) => hasCpu)).toBeGreaterThan(2);
    expect(count(({ hasPga }) => hasPga)).toBe(1);
    expect(count(({ statusInfo }) => statusInfo.statusDisplay === "Disconnected")).toBe(2);
    expect(count(({ statusInfo }) => statusInfo.statusDisplay === "Stopped")).toBe(1);
    expect(count(({ hasAsic, macAddress }) => hasAsic && macAddress === "")).toBeGreaterThan(0);
  });

  test("is the same with the same seed and clock, and different with another seed", async () => {
    const [one, same, other] = [await bench(), await bench(), await bench({ seed: 2 })];
    const text = async ({ ask }: typeof one) => (await ask("GET", "/api/miners")).text;
    expect(await text(same)).toBe(await text(one));
    expect(await text(other)).not.toBe(await text(one));
  });

  test("agrees with the model of the miner", async () => {
    const { twin, miner } = await bench();
    const shown = await miner(first);
    const model = twin.miners.find(({ id }) => id === first)?.model;
    expect(shown.speedInfo.hashrateValue).toBe(Math.round(model?.hashrate(5) ?? 0));
    expect(shown.coinInfo.powerUsageValue).toBe(Math.round(model?.power ?? 0));
    expect(shown.progressInfo.acceptedValue).toBe(model?.shares.accepted);
  });

  test("gives the money per month as that per day times 30.3, and the profit as revenue minus cost", async () => {
    const { miner } = await bench();
    const { coinInfo } = await miner(first);
    expect(coinInfo.revenuePerMonth).toBe(`$${(coinInfo.revenuePerDayValue * 30.3).toFixed(2)}`);
    expect(coinInfo.profitPerDayValue).toBeGreaterThan(0);
    expect(coinInfo.profitPerDayValue).toBeLessThan(coinInfo.revenuePerDayValue);
  });
});

describe("display strings", () => {
  test("are those of the locale", async () => {
    const { miner, summary } = await bench({ locale: "sv-SE" });
    const { temperature, statusInfo, speedInfo, coinInfo, progressInfo } = await miner(first);
    expect(speedInfo.hashrate).toMatch(/^\d\d,\d\d TH\/s$/);
    expect(speedInfo.line2).toMatch(/^Avg: \d\d,\d\d TH\/s$/);
    expect(speedInfo.line3).toMatch(/^Power: 3\d{3} W$/);
    expect(speedInfo.workUtility).toMatch(/^1 3\d\d \d{3},\d\d$/);
    expect(temperature).toMatch(/^\d\d \d\d \d\d °C$/);
    expect(statusInfo.statusLine3).toMatch(/^(1d )?\d+h \d+m$/);
    expect(coinInfo.revenuePerDay).toMatch(/^\$\d+,\d\d$/);
    // Never grouped: as in the recorded replies, since clients parse it as an integer.
    expect(progressInfo.acceptedValue).toBeGreaterThan(1_000);
    expect(progressInfo.line1).toBe(`Accepted: ${progressInfo.acceptedValue}`);
    expect((await summary()).exchangeRate).toBe("$68 412,50");
  });

  test("are American by default, and have the symbol of another currency in front", async () => {
    expect((await (await bench()).summary()).exchangeRate).toBe("$68,412.50");
    expect((await (await bench({ locale: "de-DE", currency: "EUR" })).summary()).exchangeRate).toBe("€63.080,00");
  });

  test("an unknown locale is refused", async () => {
    await expect(startTwin({ locale: "no_such" })).rejects.toMatchObject({ code: "input.invalid" });
  });
});

describe("the key", () => {
  test("is accepted anywhere in the query, and nowhere else", async () => {
    const { ask } = await bench({ key: "s&cret" });
    expect((await ask("GET", "/api/summary?key=s%26cret")).status).toBe(200);
    expect((await ask("GET", "/api/summary?user_id=1&key=s%26cret")).status).toBe(200);
    expect((await ask("POST", `/api/miners/${first}?key=s%26cret&action=stop`)).status).toBe(200);
    for (const headers of [{}, { "x-api-key": "s&cret" }, { authorization: "Bearer s&cret" }]) {
      expect(await ask("GET", "/api/summary", undefined, headers)).toMatchObject({ status: 401 });
    }
    expect((await ask("GET", "/api/summary?key=wrong")).status).toBe(401);
  });

  test("is required by each of the 28 operations, before anything is done", async () => {
    const { ask } = await bench({ key: "k" });
    const before = (await ask("GET", "/api/miners?key=k")).text;
    for (const { method, path, body } of documented) {
      expect({ path, status: (await ask(method, path, body)).status }).toEqual({ path, status: 401 });
    }
    expect((await ask("GET", "/api/miners?key=k")).text).toBe(before);
  });

  test("is not needed where none is set, and a stray one does no harm", async () => {
    const { ask } = await bench();
    expect((await ask("GET", "/api/summary?key=any", undefined, { authorization: "Basic eDp5" })).status).toBe(200);
  });

  test("is not in the recorded requests", async () => {
    const { ask, twin } = await bench({ key: "secret" });
    await ask("GET", "/api/summary?key=secret&user_id=1");
    expect(twin.requests).toEqual({ count: 1, paths: ["GET /api/summary?user_id=1"] });
  });
});

describe("the twin does not have", () => {
  test("the paths of Rigbridge extensions", async () => {
    const { ask } = await bench({ key: "k" });
    const ours = ["/health", "/metrics", "/openapi.json", "/docs", "/api/events", "/api/groups", "/api/commands"];
    for (const path of [...ours, "/api", "/", "/api/miners/", `/api/miners/${first}/history`]) {
      expect(await ask("GET", path)).toMatchObject({ status: 404, type: "text/html; charset=utf-8" });
    }
    expect(await ask("POST", "/api/discovery", {})).toMatchObject({ status: 404 });
  });

  test("the methods of Rigbridge extensions on documented paths", async () => {
    const { twin, ask } = await bench();
    for (const [method, path] of [
      ["PATCH", `/api/miners/${first}`],
      ["DELETE", `/api/miners/${first}`],
      ["POST", "/api/miners"],
      ["DELETE", "/api/hosts/1"],
      ["PUT", "/api/pools/1"],
    ] as const) {
      expect((await ask(method, path)).status).toBe(405);
    }
    const response = await fetch(`${twin.url}/api/pools`, { method: "PUT" });
    expect(response.headers.get("allow")).toBe("GET, POST");
    expect((await ask("POST", `/api/miners/${first}?action=set&property=fan&value=50`)).status).toBe(400);
  });

  test.each([
    ["GET", "/api/miners/77", 404],
    ["GET", "/api/miners/abc", 400],
    ["POST", "/api/miners/77?action=stop", 404],
    ["POST", `/api/miners/${first}`, 400],
    ["POST", `/api/miners/${first}?action=explode`, 400],
    ["POST", `/api/miners/${first}?action=add_pool&pool_type=single`, 400],
    ["POST", `/api/miners/${first}?action=add_pool&pool_type=both&pool_id=3`, 400],
    ["POST", `/api/miners/${first}?action=add_pool&pool_type=group&pool_id=77`, 404],
    ["POST", `/api/miners/${first}?action=apply_template&template_id=77`, 404],
    ["POST", `/api/miners/${first}?action=rule&rule_id=77`, 404],
    ["GET", `/api/miners/${first}/pools/77`, 404],
    ["POST", `/api/miners/${first}/pools/1?action=explode`, 400],
    ["GET", "/api/pools/77", 404],
    ["DELETE", "/api/pools/77", 404],
    ["GET", "/api/hosts/77", 404],
    ["GET", "/api/hosts/77/systeminfo", 404],
    ["GET", "/api/managedminers/77", 404],
    ["POST", "/api/notifications?action=explode", 400],
    ["POST", "/api/notifications/77?action=ack", 404],
    ["DELETE", "/api/coins/NONE", 404],
    ["DELETE", "/api/coins/BTC", 409],
    ["GET", "/api/user/nobody", 404],
    ["GET", "/api/summary?user_id=77", 404],
    ["GET", "/api/summary?user_id=x", 400],
  ])("%s %s is %i", async (method, path, status) => {
    const { ask } = await bench();
    const answer = await ask(method, path);
    expect(answer.status).toBe(status);
    expect(answer.type).not.toContain("problem");
  });

  test.each([
    ["no JSON", "{", "application/json", 400],
    ["no object", "[1]", "application/json", 400],
    ["a wrong type", '{"hostname":5}', "application/json", 400],
    ["no host name", "{}", "application/json", 400],
    ["an unknown id", '{"id":77,"hostname":"h"}', "application/json", 404],
    ["another media type", '{"hostname":"h"}', "text/plain", 415],
    ["more than a megabyte", `{"hostname":"${"h".repeat(1_100_000)}"}`, "application/json", 413],
  ])("a host that is %s is refused", async (_, body, type, status) => {
    const { twin } = await bench();
    const response = await fetch(`${twin.url}/api/hosts`, { method: "POST", body, headers: { "content-type": type } });
    expect(response.status).toBe(status);
    expect(await (await fetch(`${twin.url}/api/hosts`)).json()).toHaveLength(2);
  });

  test("a request target that is not a path is refused", async () => {
    const { twin } = await bench();
    const { port, hostname } = new URL(twin.url);
    const saying = new Promise<string>((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write("GET http://evil.example/api/summary HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
      });
      let text = "";
      socket.on("data", (bytes) => {
        text += bytes;
      });
      socket.on("close", () => resolve(text));
    });
    const said = await within(saying, "the server to close the connection");
    expect(said).toMatch(/^HTTP\/1\.1 400 /);
  });
});

test("two twins cannot share a port", async () => {
  const { twin } = await bench();
  await expect(startTwin({ port: Number(new URL(twin.url).port) })).rejects.toMatchObject({ code: "not.possible" });
});
