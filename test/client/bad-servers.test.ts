import { inspect } from "node:util";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "@jest/globals";
import { pino } from "pino";
import { connectService } from "../../src/client/index.ts";
import { RigbridgeError } from "../../src/contract/problems.ts";
import { startTwin } from "../../src/simulator/index.ts";
import { freePort } from "../free-port.ts";
import { within } from "../until.ts";
import { answering, closeServers, connecting, emptySummary, reference, sendJson } from "./servers.ts";

afterEach(closeServers);

const key = "an-invented+secret/key of mine";
const caller = { actor: "test" };

/** The error that listing the miners of this server gives, after it was searched for the key. */
async function troubleWith(url: string, options: { locale?: string; timeout?: number } = {}): Promise<RigbridgeError> {
  const service = connectService({ url, key, timeout: 20, ...options });
  const error = await service.listMiners({}, caller).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  await service.close();
  if (!(error instanceof RigbridgeError)) throw new Error(`not refused: ${inspect(error)}`);
  const everything = inspect(error, { depth: 20, showHidden: true });
  for (const secret of [key, encodeURIComponent(key), new URLSearchParams({ key }).toString().slice(4), "secret"])
    expect(everything).not.toContain(secret);
  expect(error.message.length).toBeLessThan(400);
  expect(error.message).not.toMatch(/[\r\n<]/);
  return error;
}

const bomb = gzipSync(Buffer.alloc(40_000_000, " "));

describe("what answers is not a mining service", () => {
  test.each<[string, string, (path: string) => { status?: number; type?: string; body: string }, RegExp]>([
    ["a web page", "service.garbled", () => ({ type: "text/html", body: "<html>router" }), /web page/],
    ["a web page of no type", "service.garbled", () => ({ type: "", body: "  <!doctype html>" }), /web page/],
    ["half JSON", "service.garbled", () => ({ body: '{"totalCount": 1, "coinList": [' }), /broken JSON/],
    ["nothing", "service.garbled", () => ({ body: "" }), /nothing at all/],
    ["another object", "service.garbled", () => ({ body: '{"hello": 1}' }), /not with a dashboard summary/],
    ["a number", "service.garbled", () => ({ body: "1e999" }), /not with a dashboard summary/],
    ["404", "service.garbled", () => ({ status: 404, body: "{}" }), /not a mining service/],
    ["401", "key.wrong", () => ({ status: 401, body: `"no: ${key}"` }), /HTTP 401: no: \*\*\*$/],
    ["500 with a page", "service.refused", () => ({ status: 500, type: "text/html", body: "<html>x" }), /HTTP 500$/],
    ["500 in words", "service.refused", () => ({ status: 500, type: "text/plain", body: "a\nb" }), /HTTP 500: a b$/],
  ])("%s", async (_, code, answer, message) => {
    const { url } = await answering((request, response) => {
      const { status = 200, type = "application/json", body } = answer(request.url ?? "");
      response.writeHead(status, type === "" ? {} : { "content-type": type }).end(body);
    });
    expect(await troubleWith(url)).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  test("a redirect is not followed, and named without its query", async () => {
    const asked: string[] = [];
    const { url } = await answering((request, response) => {
      asked.push(request.url ?? "");
      response.writeHead(301, { location: `https://elsewhere.example/x?key=${encodeURIComponent(key)}` }).end();
    });
    const { code, message } = await troubleWith(url);
    expect([code, message]).toEqual(["service.refused", expect.stringContaining("to https://elsewhere.example/x (")]);
    expect(asked).toEqual(["/openapi.json"]);
  });

  test("a server that is certainly not a mining service never gets the key", async () => {
    const asked: string[] = [];
    const { url } = await answering((request, response) => {
      asked.push(`${request.url} ${request.headers["x-api-key"]}`);
      response.writeHead(200, { "content-type": "text/html" }).end("<html>");
    });
    await troubleWith(url);
    expect(asked).toEqual(["/openapi.json undefined", "/api/summary undefined"]);
  });
});

describe("what answers does not speak HTTP as it should", () => {
  test.each<[string, string, RegExp, (write: (text: string | Buffer) => void, end: () => void) => void]>([
    ["the connection is closed at once", "service.unreachable", /closed the connection/, (_, end) => end()],
    ["no HTTP", "service.garbled", /broken HTTP/, (write) => write("SSH-2.0-OpenSSH\r\n\r\n")],
    [
      "fewer bytes than announced",
      "service.unreachable",
      /cannot be reached/,
      (write, end) => {
        write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 999\r\n\r\n{"a"');
        end();
      },
    ],
    [
      "a gzip bomb",
      "service.garbled",
      /more than 8 MB/,
      (write) => {
        write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`);
        write(bomb);
      },
    ],
    [
      "broken gzip",
      "service.garbled",
      /broken HTTP/,
      (write) => write("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\nabcd"),
    ],
  ])("%s", async (_, code, message, serve) => {
    const { url } = await connecting((socket) => {
      socket.once("data", () =>
        serve(
          (data) => socket.write(data),
          () => socket.end(),
        ),
      );
    });
    expect(await troubleWith(url)).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  test("nothing within the time", async () => {
    const { url } = await connecting(() => {});
    expect(await troubleWith(url, { timeout: 0.3 })).toMatchObject({
      code: "service.unreachable",
      message: expect.stringMatching(/did not answer in time \(within 0.3 s\)/),
    });
  });

  test("a body without an end is cut, by its size or by the time", async () => {
    const { url } = await answering((_, response) => {
      const piece = Buffer.alloc(65_536, " ");
      const pour = () => {
        while (!response.destroyed && response.write(piece));
      };
      response.on("drain", pour);
      pour();
    });
    expect((await troubleWith(url)).code).toMatch(/^service\.(garbled|unreachable)$/);
  });

  test("no program listens there", async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    expect(await troubleWith(url)).toMatchObject({
      code: "service.unreachable",
      message: `The service at ${url} cannot be reached: no program listens there (ECONNREFUSED)`,
    });
  });

  test("a proxy of the environment is not asked", async () => {
    const asked: string[] = [];
    const proxy = await answering((request, response) => {
      asked.push(request.url ?? "");
      response.end();
    });
    const { url } = await reference({ "/api/miners": { groupList: [] } });
    process.env.http_proxy = proxy.url;
    try {
      const service = connectService({ url });
      expect((await service.listMiners({}, caller)).groupList).toEqual([]);
      await service.close();
    } finally {
      delete process.env.http_proxy;
    }
    expect(asked).toEqual([]);
  });
});

describe("other types than documented are named with their place", () => {
  const miner = (fields: object) => ({ groupList: [{ id: 1, name: "g", minerList: [{ id: 7, ...fields }] }] });

  test.each<[unknown, string]>([
    [[], "the reply is a list where an object must be"],
    [{ groupList: {} }, "the reply.groupList is an object where a list must be"],
    [{ groupList: [{ id: 1, minerList: [5] }] }, "groupList[0].minerList[0] is the number 5 where an object must be"],
    [miner({ id: "7" }), "minerList[0].id is a text where a whole number must be"],
    [miner({ id: 7e300 }), "minerList[0].id is the number 7e+300 where a whole number must be"],
    [miner({ name: 5 }), "minerList[0].name is the number 5 where a text must be"],
    [miner({ asicList: "none" }), "minerList[0].asicList is a text where a list must be"],
    [
      miner({ speedInfo: { hashrateValue: "73" } }),
      "minerList[0].speedInfo.hashrateValue is a text where a number must be",
    ],
    [miner({ canStop: "yes" }), "minerList[0].canStop is a text where true or false must be"],
  ])("%j", async (reply, message) => {
    const { url } = await reference({ "/api/miners": reply });
    expect(await troubleWith(url)).toMatchObject({
      code: "service.garbled",
      message: expect.stringContaining(message),
    });
  });

  test("one such entry is left out of a list and noted, and the others stay", async () => {
    const bad = { id: 8, name: 5 };
    const lines: string[] = [];
    const log = pino({ level: "warn" }, { write: (line: string) => lines.push(String(JSON.parse(line).msg)) });
    const { url } = await reference({
      "/api/miners": {
        groupList: [
          {
            id: 1,
            name: "g",
            minerList: [{ id: 7, name: "seven", asicList: [5, { name: "A" }], poolList: [{ id: "x" }] }, bad],
          },
          { id: 2, name: "only a bad one", minerList: ["x"] },
          { id: "no group", name: "h", minerList: [{ id: 9, name: "nine" }] },
        ],
        manualActionList: [{ id: 1, name: "night" }, { id: null }],
        metaData: { warningList: ["its own"] },
      },
      "/api/summary": { runningCount: 1, totalCount: 2, coinList: [{ name: "BTC" }, { name: 5 }], algorithmList: [] },
      "/api/managedtemplates": { managedTemplateList: [7, { id: 1, name: "t" }] },
      "/api/pools": { list: [{ id: 1 }, { id: "2" }, null] },
      "/api/poolgroups": [{ id: 1, name: "g" }, {}],
      "/api/hosts": [{ id: 1 }, { id: 1.5 }],
      "/api/managedminers": [{ id: 1 }, { id: 2, hostId: "x" }],
      "/api/miningsoftware": [{ id: "a", name: "A" }, "b"],
      "/api/algorithms": [{ id: "a", name: "A" }, { id: [] }],
      "/api/notifications": { notificationList: [{ id: 1 }, { id: 2, isWarning: "yes" }] },
      "/api/miners/7/pools": { addPoolList: [{ id: 1, name: "p", type: "single" }, { id: {} }] },
      "/api/hosts/1/systeminfo": { gpuStatusList: [{ id: 0 }, { id: "0" }] },
    });
    const service = connectService({ url, log });
    const leftOut = (what: string) =>
      expect.stringMatching(new RegExp(`^An entry cannot be read and is left out: .*${what}`));
    const list = await service.listMiners({}, caller);
    expect(list.groupList.map(({ id, minerList }) => [id, minerList.map((miner) => miner.id)])).toEqual([
      [1, [7]],
      [2, []],
    ]);
    expect(list.manualActionList).toEqual([{ id: 1, name: "night" }]);
    expect(list.metaData.warningList).toEqual([
      "its own",
      leftOut("minerList\\[1\\].name is the number 5"),
      leftOut("groupList\\[1\\].minerList\\[0\\] is a text"),
      leftOut("groupList\\[2\\].id is a text"),
      leftOut("manualActionList\\[1\\].id is missing"),
    ]);
    const [miner] = list.groupList[0]?.minerList ?? [];
    expect([miner?.asicList.map(({ name }) => name), miner?.poolList]).toEqual([["A"], []]);
    expect(miner?.readings.notes).toEqual([leftOut("asicList\\[0\\]"), leftOut("poolList\\[0\\].id")]);

    const summary = await service.getSummary({}, caller);
    expect([summary.coinList.map(({ name }) => name), summary.metaData.warningList]).toEqual([
      ["BTC"],
      [leftOut("coinList\\[1\\].name")],
    ]);
    const templates = await service.listManagedTemplates({}, caller);
    expect([templates.managedTemplateList, templates.metaData.warningList]).toEqual([
      [{ id: 1, name: "t" }],
      [leftOut("managedTemplateList\\[0\\]")],
    ]);
    // Where the reply has no place for it, it is in the log, once.
    for (let asked = 0; asked < 2; asked += 1) {
      expect((await service.listPools({}, caller)).list).toHaveLength(1);
      expect(await service.listPoolGroups({}, caller)).toHaveLength(1);
      expect(await service.listHosts({}, caller)).toHaveLength(1);
      expect(await service.listManagedMiners({}, caller)).toHaveLength(1);
      expect(await service.listMiningSoftware({}, caller)).toHaveLength(1);
      expect(await service.listAlgorithms({}, caller)).toHaveLength(1);
      expect((await service.listNotifications({}, caller)).notificationList).toHaveLength(1);
      expect((await service.listAddPools({ id: 7 }, caller)).addPoolList).toHaveLength(1);
      expect((await service.getHostSystemInfo({ id: 1 }, caller)).gpuStatusList).toHaveLength(1);
    }
    expect(lines).toHaveLength(10);
    for (const line of lines) expect(line).toEqual(leftOut(""));
    await service.close();
  });

  test("groups that have no end are cut", async () => {
    let groups: object[] = [];
    for (let depth = 0; depth < 500; depth += 1) groups = [{ id: depth, groupList: groups }];
    const { url } = await reference({ "/api/miners": { groupList: groups } });
    expect(await troubleWith(url)).toMatchObject({ code: "service.garbled" });
  });
});

describe("the locale of the server", () => {
  test("that is set wrong is said so", async () => {
    const twin = await startTwin({ locale: "sv-SE", miners: 6, key });
    try {
      expect(await troubleWith(twin.url, { locale: "en-US" })).toMatchObject({
        code: "service.garbled",
        message: expect.stringMatching(/does not format its numbers as en-US .*; set the server's own locale$/),
      });
    } finally {
      await twin.close();
    }
  });

  test("single strings that do not fit are notes of the miner", async () => {
    const speedInfo = { hashrate: "73.22 TH/s", avgHashrate: "73,96 TH/s", workUtility: "200,540.59" };
    const { url } = await reference({
      "/api/miners": {
        groupList: [{ id: 1, minerList: [{ id: 7, statusInfo: { statusDisplay: "Mining" }, speedInfo }] }],
      },
    });
    const service = connectService({ url });
    const [miner] = (await service.listMiners({}, caller)).groupList.flatMap(({ minerList }) => minerList);
    await service.close();
    expect(miner?.readings).toMatchObject({ hashrate: 73.22e12, hashrateAverage: null });
    expect(miner?.readings.notes).toEqual([
      expect.stringMatching(/speedInfo\.avgHashrate says "73,96 TH\/s", which cannot be read as en-US$/),
    ]);
  });
});

describe("tries", () => {
  test("a read is tried again after 503, a change never", async () => {
    const asked: string[] = [];
    const { url } = await answering((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      if (request.url === "/openapi.json") return sendJson(response, {}, 404);
      if (request.url === "/api/summary") return sendJson(response, emptySummary);
      const isThird = asked.filter((each) => each === asked.at(-1)).length > 2;
      if (!isThird) return sendJson(response, {}, 503);
      return sendJson(response, []);
    });
    const service = connectService({ url });
    expect(await service.listHosts({}, caller)).toEqual([]);
    expect(asked.filter((each) => each === "GET /api/hosts")).toHaveLength(3);
    await expect(service.minerAction({ id: 1, action: "stop" }, caller)).rejects.toMatchObject({
      code: "service.not-ready",
    });
    expect(asked.filter((each) => each.startsWith("POST"))).toHaveLength(1);
    await service.close();
  });

  test("what a change has become is not guessed when the connection breaks off", async () => {
    let posts = 0;
    const { url } = await answering((request, response) => {
      if (request.method === "POST") {
        posts += 1;
        request.socket.destroy();
      } else if (request.url === "/api/summary") sendJson(response, emptySummary);
      else sendJson(response, {}, 404);
    });
    const service = connectService({ url });
    await expect(service.minerAction({ id: 1, action: "reboot" }, caller)).rejects.toMatchObject({
      code: "service.unreachable",
    });
    expect(posts).toBe(1);
    await service.close();
  });
});

test("closing a client ends its pending requests", async () => {
  const server = await connecting(() => {});
  const service = connectService({ url: server.url });
  const asked = expect(service.listHosts({}, caller)).rejects.toMatchObject({ code: "service.unreachable" });
  await service.close();
  await within(asked, "the request under way to end");
});

test.each(["ftp://x", "http://a:b@c/", "http://c/?key=x", "nonsense"])("the URL %s is refused", (url) =>
  expect(() => connectService({ url })).toThrow(expect.objectContaining({ code: "input.invalid" })),
);
