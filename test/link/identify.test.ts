import type { Socket } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { parseAddress } from "../../src/link/address.ts";
import { cgminer } from "../../src/link/drivers/cgminer/index.ts";
import { claymore } from "../../src/link/drivers/claymore/index.ts";
import { drivers } from "../../src/link/drivers/index.ts";
import { type Identified, identify, UnreadableRig } from "../../src/link/identify.ts";
import type { Credentials } from "../../src/link/link.ts";
import { type RigSpec, startFarm } from "../../src/simulator/index.ts";
import { startRig } from "../simulated-rig.ts";
import { deadline } from "./rigs.ts";
import { closedPort, http, serve, type TinyServer } from "./servers.ts";

const identified = (address: string, credentials: Credentials = {}): Promise<Identified> =>
  identify(parseAddress(address), credentials, deadline());

async function simulated(spec: RigSpec, credentials: Credentials = {}): Promise<Identified> {
  const simulated = await startRig(spec);
  return identified(simulated.address, credentials);
}

/** The one that was started last. */
let server: TinyServer | undefined;

async function served(
  answer: (socket: Socket, request: string) => void,
  credentials: Credentials = {},
): Promise<Identified> {
  server = await serve(answer);
  return identified(`127.0.0.1:${server.port}`, credentials);
}

describe("a rig at a port that says nothing about it is recognised", () => {
  test.each<[RigSpec, string, object]>([
    [{ kind: "cgminer" }, "cgminer", { make: "cgminer" }],
    [{ kind: "cgminer", dialect: "bfgminer" }, "cgminer", { make: "bfgminer" }],
    [{ kind: "cgminer", dialect: "bmminer" }, "antminer", { make: "Antminer", model: "Antminer S19" }],
    [{ kind: "axeos" }, "axeos", { make: "Bitaxe", mac: "02:51:00:00:00:00" }],
    [{ kind: "xmrig" }, "xmrig", { make: "XMRig", hostname: "xmrig-1" }],
    [{ kind: "cgminer", dialect: "sgminer" }, "cgminer", { make: "sgminer" }],
    [{ kind: "cgminer", dialect: "teamredminer" }, "cgminer", { make: "TeamRedMiner" }],
    [{ kind: "epic" }, "epic", { make: "ePIC" }],
    [{ kind: "auradine" }, "auradine", { make: "Auradine" }],
    [{ kind: "goldshell" }, "goldshell", { make: "Goldshell" }],
    [{ kind: "sealminer" }, "sealminer", { make: "Sealminer" }],
    [{ kind: "mujina" }, "mujina", { make: "Mujina", model: "Bitaxe Gamma" }],
    [{ kind: "innosilicon" }, "innosilicon", { make: "Innosilicon", model: "A9" }],
    [{ kind: "apollo" }, "apollo", { make: "FutureBit" }],
    [{ kind: "mara" }, "mara", { make: "MARA", model: "Antminer S19" }],
    [{ kind: "proto", older: true }, "proto", { make: "Proto" }],
    [{ kind: "claymore" }, "claymore", { make: "PhoenixMiner" }],
    [{ kind: "claymore", older: true }, "claymore", { make: "TT-Miner" }],
    [{ kind: "ethminer" }, "ethminer", { make: "ethminer", hostname: "ethminer-1" }],
    [{ kind: "ccminer" }, "ccminer", { make: "ccminer" }],
    [{ kind: "ccminer", older: true }, "ccminer", { make: "CryptoDredge" }],
    [{ kind: "ccminer", hardware: "processor" }, "ccminer", { make: "cpuminer-opt" }],
  ])("%j", async (spec, id, identity) => {
    const found = await simulated(spec);
    expect(found.driver.id).toBe(id);
    expect(found.identity).toMatchObject(identity);
    await expect(found.rig.read(deadline())).resolves.toMatchObject({ identity });
  });

  test("a Bitaxe by its information, whatever its compressed page", async () => {
    const found = await served((socket, request) =>
      socket.end(
        request.startsWith("GET /api/system/info ")
          ? http(200, '{"ASICModel":"BM1368","macAddr":"02:00:00:00:00:01"}')
          : http(200, Buffer.from([0x1f, 0x8b, 8, 0]), ["Content-Encoding: gzip"]),
      ),
    );
    expect(found).toMatchObject({ driver: { id: "axeos" }, identity: { make: "Bitaxe", mac: "02:00:00:00:00:01" } });
  });

  test("an XMRig by its summary, whatever is at /", async () => {
    const found = await served((socket, request) =>
      socket.end(
        request.startsWith("GET /2/summary ")
          ? http(200, '{"hashrate":{"total":[1,2,3]},"version":"6.26.0","kind":"miner"}')
          : http(404, "<h1>nothing here</h1>"),
      ),
    );
    expect(found).toMatchObject({ driver: { id: "xmrig" }, identity: { firmware: "XMRig 6.26.0" } });
  });

  test.each([
    ["Braiins", { BOSer: "boser-openwrt 0.1.0" }],
    ["LuxOS", { LUXminer: "2025.4", Type: "Antminer S19" }],
    ["VNish", { Miner: "x", Type: "Antminer S21 (Vnish 1.3)" }],
    ["Avalon", { CGMiner: "4.11.1", PROD: "AvalonMiner 1246", MAC: "aabbccddeeff", DNA: "0123" }],
    ["WhatsMiner", { Description: "btminer" }],
  ])("%s by its name, in the dialect of cgminer", async (make, version) => {
    const found = await served((socket) =>
      socket.end(`${JSON.stringify({ STATUS: [{ STATUS: "S" }], VERSION: [version] })}\0`),
    );
    // Who has a driver of that name speaks more than the dialect.
    const { id } = drivers.find((each) => each.id === make.toLowerCase()) ?? { id: "cgminer" };
    expect(found).toMatchObject({ driver: { id }, identity: { make } });
  });

  test.each([
    ["NerdAxe", "<title>NerdQAxe AxeOS</title>", { ASICModel: "BM1370", deviceModel: "NerdQAxe++" }],
    ["LuckyMiner", "<title>Lucky miner</title>", { ASICModel: "BM1366", minerModel: "LV06" }],
  ])("%s, a fork of AxeOS", async (make, page, info) => {
    const found = await served((socket, request) =>
      socket.end(http(200, request.startsWith("GET / ") ? page : JSON.stringify(info))),
    );
    expect(found).toMatchObject({ driver: { id: "axeos" }, identity: { make } });
  });
});

test("an ethminer with a password is recognised without it, which is sent only by its driver", async () => {
  const found = await simulated({ kind: "ethminer", password: "geheim" }, { password: "geheim" });
  expect(found).toMatchObject({ driver: { id: "ethminer" }, identity: { make: "ethminer" } });
  await expect(found.rig.read(deadline())).resolves.toMatchObject({ software: "EthMiner" });
});

test("a program that leaves RPC and HTTP open is recognised by its own requests", async () => {
  const statistics = ["PM 6.2c - ETH", "1", "1;0;0", "1", "0;0;0", "off", "60;50", "a.example.com:1"];
  const found = await served((socket, request) => {
    if (request.startsWith("GET")) socket.end();
    if (request.includes("miner_getstat1")) socket.end(`${JSON.stringify({ id: 1, result: statistics })}\n`);
  });
  expect(found).toMatchObject({ driver: { id: "claymore" }, identity: { make: "PhoenixMiner" } });
});

test("requests of mining programs are sent last, and not where a page or another protocol has answered", async () => {
  const requests: string[] = [];
  const answer = (socket: Socket, request: string): void => {
    requests.push(request.split("\r")[0] ?? "");
    socket.end(request.startsWith("GET / ") ? http(200, "<title>Printer</title>") : http(400, ""));
  };
  await expect(served(answer)).rejects.toMatchObject({ code: "rig.unknown-protocol" });
  expect(requests.join()).not.toMatch(/miner_|summary$/);
  requests.length = 0;
  await expect(
    served((socket, request) => {
      requests.push(request.split("\r")[0] ?? "");
      socket.end();
    }),
  ).rejects.toMatchObject({ code: "rig.unknown-protocol" });
  expect(requests.slice(-2).map((request) => /miner_getstat1|summary/.exec(request)?.[0])).toEqual([
    "miner_getstat1",
    "summary",
  ]);
});

test("a driver of a mining program without a port in its address goes to the program's usual one", async () => {
  const simulatedFarm = await startFarm({ rigs: [{ kind: "claymore", host: "127.83.14.10", port: 3333 }] });
  try {
    const found = await identify(parseAddress("127.83.14.10"), {}, deadline(), claymore);
    await expect(found.rig.read(deadline())).resolves.toMatchObject({ software: "PhoenixMiner" });
  } finally {
    await simulatedFarm.close();
  }
});

describe("an XMRig with a token", () => {
  test("is recognised with it", async () => {
    const found = await simulated({ kind: "xmrig", token: "geheim" }, { token: "geheim" });
    expect(found.driver.id).toBe("xmrig");
  });

  test.each([
    [{}, "none is configured"],
    [{ token: "falsch" }, "rejects this access token"],
  ])("is named without it: %j", async (credentials, words) => {
    await expect(simulated({ kind: "xmrig", token: "geheim" }, credentials)).rejects.toMatchObject({
      code: "rig.login",
      message: expect.stringContaining(words),
    });
  });
});

test("a slow rig is recognised although it never answers the other protocol", async () => {
  let asked: Socket | undefined;
  const server = await serve((socket, request) => {
    if (request.startsWith("{")) asked = socket;
    else asked?.end('{"STATUS":[{"STATUS":"S"}],"VERSION":[{"CGMiner":"4.11.1"}]}\0');
  });
  const found = await identify(parseAddress(`127.0.0.1:${server.port}`), {}, deadline(600_000));
  expect(found.driver.id).toBe("cgminer");
});

describe("a device that no driver reads yet is named", () => {
  const login = (realm: string): Buffer =>
    http(401, "<h1>401</h1>", [`WWW-Authenticate: Digest realm="${realm}", nonce="1", qop="auth"`]);
  test.each<[string, Buffer]>([
    ["an Innosilicon", http(200, "<!doctype html><title>DragonMint</title>")],
    ["a VolcMiner", http(200, "<!doctype html><title>blackMiner Configuration</title>")],
    ["a VolcMiner", login("blackMiner Configuration")],
  ])("%s, with a login given too, and without a hint of another", async (what, answer) => {
    for (const credentials of [{}, { username: "root", password: "geheim" }]) {
      const requests: string[] = [];
      const failure = served((socket, request) => {
        requests.push(request);
        socket.end(request.startsWith("GET / ") ? answer : http(404, ""));
      }, credentials);
      await expect(failure).rejects.toBeInstanceOf(UnreadableRig);
      const at = `127.0.0.1:${server?.port}`;
      await expect(failure).rejects.toMatchObject({
        code: "rig.unknown-protocol",
        message: `${at} is ${what}, which this version cannot read`,
        identity: { make: what.replace(/^an? /, "") },
      });
      expect(requests.join()).not.toContain("geheim");
    }
  });

  test("and one whose RPC is open is read by that, whatever its page", async () => {
    const found = await served((socket, request) =>
      socket.end(
        request.startsWith("{")
          ? '{"STATUS":[{"STATUS":"S"}],"VERSION":[{"CGMiner":"2.3.3","Type":"VolcMiner D1"}]}\0'
          : login("blackMiner Configuration"),
      ),
    );
    expect(found).toMatchObject({ driver: { id: "volcminer" }, identity: { make: "VolcMiner" } });
  });
});

test("any other login is no sign of a rig", async () => {
  const failure = served((socket) => socket.end(http(401, "", ['WWW-Authenticate: Basic realm="Router"'])));
  await expect(failure).rejects.toMatchObject({ code: "rig.unknown-protocol" });
});

test("a token is sent only to what has shown itself to be an XMRig", async () => {
  const requests: string[] = [];
  const answer = (socket: Socket, request: string): void => {
    requests.push(request);
    socket.end(request.startsWith("{") ? "" : http(200, "<title>AxeOS</title>"));
  };
  await expect(served(answer, { token: "geheim", password: "geheim" })).rejects.toMatchObject({
    code: "rig.unknown-protocol",
  });
  expect(requests.length).toBeGreaterThan(1);
  expect(requests.join()).not.toContain("geheim");
});

describe("what is not a rig is reported", () => {
  test.each<[string, (socket: Socket, request: string) => void, string]>([
    [
      "a web page",
      (socket, request) => socket.end(http(request.startsWith("GET") ? 200 : 400, "<title>Printer</title>")),
      "answers HTTP 200",
    ],
    ["a banner", (socket) => socket.end("SSH-2.0-OpenSSH_9.2\r\n"), 'begins with "SSH-2.0'],
    ["one that closes", (socket) => socket.end(), "closed without an answer"],
    [
      "an xmrig-proxy",
      (socket, request) =>
        socket.end(
          request.startsWith("{")
            ? ""
            : http(
                request.includes("/2/") ? 200 : 404,
                request.includes("/2/") ? '{"kind":"proxy","hashrate":{}}' : '{"status":404,"error":"NOT_FOUND"}',
              ),
        ),
      "answers HTTP 404",
    ],
  ])("%s", async (_, answer, words) => {
    await expect(served(answer)).rejects.toMatchObject({
      code: "rig.unknown-protocol",
      message: expect.stringContaining(words),
    });
  });

  test("a port that is silent", async () => {
    const server = await serve(() => {});
    const failure = identify(parseAddress(`127.0.0.1:${server.port}`), {}, deadline(600));
    await expect(failure).rejects.toMatchObject({
      code: "rig.unknown-protocol",
      message: expect.stringContaining("in time"),
    });
  });

  test("a port where nothing listens, without asking twice", async () => {
    await expect(identified(`127.0.0.1:${await closedPort()}`)).rejects.toMatchObject({
      code: "rig.unreachable",
      message: expect.stringContaining("refused"),
    });
  });

  test("a host with nothing at the usual ports, with the hint that XMRig has none", async () => {
    await expect(identified("127.83.14.9")).rejects.toMatchObject({
      message: expect.stringMatching(/127\.83\.14\.9.*:4028.*--http-port/),
    });
  });
});

test("with a driver set nothing is sent before the first read", async () => {
  const server = await serve((socket) => socket.end());
  const found = await identify(parseAddress(`127.0.0.1:${server.port}`), {}, deadline(), cgminer);
  expect(found.driver).toBe(cgminer);
  expect(server.connections()).toBe(0);
});

test("every driver has a name of its own", () => {
  expect(new Set(drivers.map(({ id }) => id)).size).toBe(drivers.length);
});
