import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { createServer, Socket } from "node:net";
import { afterEach, describe, expect, test } from "@jest/globals";
import { isRecord } from "../../src/contract/record.ts";
import { drivers } from "../../src/link/drivers/index.ts";
import { unknownIdentity } from "../../src/link/identity.ts";
import { parseNetwork, planSearch } from "../../src/link/networks.ts";
import { programPorts, usualPorts } from "../../src/link/ports.ts";
import { type Announced, describeRig, type FoundRig, type Progress, scan } from "../../src/link/scan.ts";
import { type Farm, type RigSpec, startFarm } from "../../src/simulator/index.ts";
import { onTestFinished } from "../finished.ts";
import { silentHosts } from "../silent-hosts.ts";
import { until } from "../until.ts";
import { http } from "./servers.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function farmOf(rigs: readonly RigSpec[]): Promise<Farm> {
  const farm = await startFarm({ rigs });
  closing.push(() => farm.close());
  return farm;
}

/** Something that is no rig. Resolves with its port. */
async function stranger(host: string, port: number, greet: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => sockets.delete(socket));
    greet(socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  closing.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const bound = server.address();
  return typeof bound === "object" && bound !== null ? bound.port : port;
}

/** A computer that never answers at these ports. */
async function silent(host: string, ports: readonly number[]): Promise<void> {
  const silence = await silentHosts([host], ports);
  closing.push(() => silence.end());
}

const answering =
  (body: string, status = 200, headers: string[] = []) =>
  (socket: Socket) =>
    void socket.once("data", () => socket.end(http(status, body, headers)));

/** Never ends, and takes whatever speed the other side has. */
function babble(socket: Socket): void {
  const more = (): void => {
    while (!socket.destroyed && socket.write("a".repeat(16_384)));
  };
  socket.on("drain", more);
  more();
}

interface Outcome {
  readonly rigs: FoundRig[];
  readonly progress: Progress[];
  /** The most sockets that were open at once. */
  readonly sockets: number;
}

interface Search {
  readonly networks: readonly string[];
  readonly ports?: readonly number[];
  readonly announced?: readonly Announced[];
  readonly signal?: AbortSignal;
  readonly quotes?: true;
  readonly found?: (rig: FoundRig) => void;
}

async function search({ networks, ports = [], announced = [], signal, quotes, found }: Search): Promise<Outcome> {
  const rigs: FoundRig[] = [];
  const progress: Progress[] = [];
  let open = 0;
  let sockets = 0;
  const count = (message: unknown): void => {
    if (!isRecord(message) || !(message.socket instanceof Socket)) return;
    open += 1;
    sockets = Math.max(sockets, open);
    message.socket.once("close", () => {
      open -= 1;
    });
  };
  subscribe("net.client.socket", count);
  try {
    await scan({
      plan: planSearch(networks.map(parseNetwork), { ports: [...usualPorts, ...ports], yes: false }),
      announced: Promise.resolve(announced),
      signal: signal ?? new AbortController().signal,
      ...(quotes === undefined ? {} : { quotes }),
      found: (rig) => {
        rigs.push(rig);
        found?.(rig);
      },
      progress: (each) => progress.push(each),
    });
  } finally {
    unsubscribe("net.client.socket", count);
  }
  // None may be left open.
  await until(() => open === 0, "every socket of the search to close", { details: () => `${open} are open` });
  rigs.sort((a, b) => (a.address < b.address ? -1 : 1));
  return { rigs, progress, sockets };
}

const token = "geheim";

/** 80, as Bitaxes have it, for who may listen there. */
const web = await stranger("127.61.0.1", 80, () => {}).catch(() => 8081);
for (const close of closing.splice(0)) await close();
/** As found. */
const shown = (host: string, port: number): string => (usualPorts.includes(port) ? host : `${host}:${port}`);

/** 42 rigs of all kinds in a /22. */
const mixed = Array.from({ length: 42 }, (_, index): RigSpec => {
  const host = `127.61.${index % 4}.${10 + index * 5}`;
  if (index % 6 === 0) return { kind: "cgminer", host, port: 4028 };
  if (index % 3 === 0) return { kind: "antminer", host, port: 4028, speaks: "rpc" };
  if (index % 3 === 1) return { kind: "axeos", host, port: web };
  return index % 2 === 0 ? { kind: "xmrig", host, port: 8080 } : { kind: "xmrig", host, port: 8080, token };
});

test("in a /22 with strangers in it exactly the rigs are found, with their drivers, by few sockets", async () => {
  const { rigs } = await farmOf(mixed);
  const page = "<!doctype html><title>Welcome to the printer</title>".padEnd(4_000, " ");
  await stranger("127.61.0.3", web, answering(page, 200, ["Server: nginx", "Content-Type: text/html"]));
  await stranger("127.61.0.4", web, answering("", 301, ["Location: https://router.lan/"]));
  await stranger("127.61.1.3", 4028, () => {});
  await stranger("127.61.1.4", web, () => {});
  await stranger("127.61.2.3", web, babble);
  await stranger("127.61.2.4", 4028, babble);
  await stranger("127.61.3.3", 4028, (socket) => socket.write("SSH-2.0-Invented_9.2\r\n"));
  await stranger("127.61.3.4", 8080, (socket) => socket.write("SSH-2.0-Invented_9.2\r\n"));
  await stranger("127.61.3.6", 8080, (socket) => socket.end());

  const { rigs: found, progress, sockets } = await search({ networks: ["127.61.0.0/22"], ports: [8080, web] });
  const expected = rigs.map(({ kind, host, port }) => [shown(host, port), kind] as const);
  expect(new Map(found.map(({ address, driver }) => [address, driver]))).toEqual(new Map(expected));
  expect(found).toHaveLength(expected.length);
  expect(progress).toHaveLength(1022);
  expect(progress.at(-1)).toEqual({ scanned: 1022, total: 1022 });
  expect(sockets).toBeGreaterThan(32);
  expect(sockets).toBeLessThanOrEqual(1_000);
});

describe("a slow network loses no rig", () => {
  test("rigs whose every answer takes 3 s are found beside hosts that hold the connection", async () => {
    const late = { fault: { name: "delay", ms: 3_000 } } as const;
    await farmOf([
      { kind: "cgminer", host: "127.66.0.1", port: 4028, ...late },
      { kind: "antminer", host: "127.66.0.2", port: 4028, speaks: "rpc", ...late },
      { kind: "axeos", host: "127.66.0.3", port: web, ...late },
      { kind: "axeos", host: "127.66.0.4", port: web },
      { kind: "cgminer", host: "127.66.0.9", port: 4028 },
    ]);
    for (const last of [5, 6, 7, 8]) await stranger(`127.66.0.${last}`, 4028, () => {});
    const { rigs, progress } = await search({ networks: ["127.66.0.0/28"], ports: [web] });
    expect(rigs.map(({ address, driver }) => [address, driver])).toEqual([
      ["127.66.0.1", "cgminer"],
      ["127.66.0.2", "antminer"],
      [shown("127.66.0.3", web), "axeos"],
      [shown("127.66.0.4", web), "axeos"],
      ["127.66.0.9", "cgminer"],
    ]);
    expect(progress.at(-1)).toEqual({ scanned: 14, total: 14 });
  });

  test("a computer that takes connections at every usual port of programs is asked at all of them together", async () => {
    const begun: number[] = [];
    let open = 0;
    let most = 0;
    for (const port of [web, ...programPorts]) {
      await stranger("127.66.1.1", port, (socket) => {
        begun.push(port);
        open += 1;
        most = Math.max(most, open);
        socket.once("close", () => {
          open -= 1;
        });
      });
    }
    expect((await search({ networks: ["127.66.1.1"], ports: [web] })).rigs).toEqual([]);
    expect(new Set(begun)).toEqual(new Set([web, ...programPorts]));
    // Two for each: HTTP and RPC.
    expect(most).toBeGreaterThanOrEqual(programPorts.length);
  });
});

describe("a rig is listed with its identity", () => {
  test("when it is recognised by that", async () => {
    const farm = await farmOf([{ kind: "axeos", host: "127.62.0.1", mac: "02:51:00:00:00:0B" }]);
    const { rigs } = await search({ networks: [farm.rigs[0]?.address ?? ""] });
    expect(rigs).toMatchObject([
      {
        address: farm.rigs[0]?.address,
        driver: "axeos",
        identity: { make: "Bitaxe", mac: "02:51:00:00:00:0B", hostname: "axeos-1" },
        note: null,
      },
    ]);
  });

  test("when it reports that only on being read", async () => {
    const reply = (request: string): object =>
      request.includes("version")
        ? { STATUS: [{ STATUS: "S" }], VERSION: [{ CGMiner: "4.11.1", API: "3.7" }] }
        : { STATUS: [{ STATUS: "S" }], SUMMARY: [{ Elapsed: 1, MAC: "c2:00:00:00:00:07" }] };
    const port = await stranger("127.0.0.1", 0, (socket) =>
      socket.once("data", (request) => socket.end(`${JSON.stringify(reply(request.toString()))}\0`)),
    );
    const { rigs } = await search({ networks: [`127.0.0.1:${port}`] });
    expect(rigs.find(({ address }) => address === `127.0.0.1:${port}`)).toMatchObject({
      driver: "cgminer",
      identity: { make: "cgminer", mac: "C2:00:00:00:00:07" },
    });
  });

  test("and with why it cannot be read", async () => {
    await farmOf([{ kind: "xmrig", host: "127.62.0.2", port: 8080, token }]);
    await stranger("127.62.0.3", 8082, answering("", 401, ['WWW-Authenticate: Digest realm="antMiner Configuration"']));
    await stranger("127.62.0.4", 4028, (socket) =>
      socket.once("data", (request) => {
        if (request.includes("version")) socket.end('{"STATUS":[{"STATUS":"S"}],"VERSION":[{"CGMiner":"4"}]}\0');
        else socket.end("nothing of that");
      }),
    );
    const { rigs } = await search({ networks: ["127.62.0.2-127.62.0.4"], ports: [8080, 8082] });
    expect(rigs).toMatchObject([
      { address: "127.62.0.2:8080", driver: "xmrig", note: "requires its access token, and none is configured" },
      {
        address: "127.62.0.3:8082",
        driver: "antminer",
        identity: { make: "Antminer" },
        note: expect.stringContaining("login"),
      },
      { address: "127.62.0.4", driver: "cgminer", note: "127.62.0.4:4028: the reply is not JSON" },
    ]);
    const asOwner = await search({ networks: ["127.62.0.4"], quotes: true });
    expect(asOwner.rigs[0]?.note).toContain('it begins with "nothing of that"');
  });
});

test("devices that this version cannot read are listed with that", async () => {
  for (const port of [8082, 8083]) await stranger("127.62.0.5", port, answering("<title>DragonMint</title>"));
  await stranger("127.62.0.6", 8082, answering("", 401, ['WWW-Authenticate: Digest realm="blackMiner Configuration"']));
  const { rigs } = await search({ networks: ["127.62.0.5-127.62.0.6"], ports: [8082, 8083] });
  const unread = { driver: null, note: "this version cannot read it" };
  expect(rigs).toMatchObject([
    { address: "127.62.0.5:8082", identity: { make: "Innosilicon" }, ...unread },
    { address: "127.62.0.6:8082", identity: { make: "VolcMiner" }, ...unread },
  ]);
  expect(rigs).toHaveLength(2);
});

test("rigs with an API of their own are found at their usual ports", async () => {
  // An ePIC has its page and its API at two of them.
  const place = web === 80 ? ({ usualPorts: true } as const) : { port: 8082 };
  await farmOf([
    { kind: "epic", host: "127.64.3.1", warm: true, ...place },
    { kind: "auradine", host: "127.64.3.2", port: 4028, warm: true },
    { kind: "goldshell", host: "127.64.3.3", port: 4028, warm: true },
    { kind: "sealminer", host: "127.64.3.4", port: 4028, warm: true },
    { kind: "iceriver", host: "127.64.3.5", port: web, warm: true },
    { kind: "proto", host: "127.64.3.6", port: web, warm: true },
    { kind: "apollo", host: "127.64.3.7", port: web, warm: true },
  ]);
  const { rigs } = await search({ networks: ["127.64.3.0/28"], ports: [web, ...(web === 80 ? [] : [8082])] });
  expect(rigs).toMatchObject([
    { address: web === 80 ? "127.64.3.1" : "127.64.3.1:8082", driver: "epic", identity: { mac: expect.any(String) } },
    { address: "127.64.3.2", driver: "auradine" },
    { address: "127.64.3.3", driver: "goldshell" },
    { address: "127.64.3.4", driver: "sealminer", identity: { model: "A2" } },
    { address: shown("127.64.3.5", web), driver: "iceriver", note: expect.stringContaining("requires its password") },
    { address: shown("127.64.3.6", web), driver: "proto", note: expect.stringContaining("requires its password") },
    { address: shown("127.64.3.7", web), driver: "apollo", identity: { model: "Apollo II" } },
  ]);
});

describe("at one address", () => {
  test("a rig that answers at two ports is found once, at the first of them", async () => {
    const specs = [8082, 8080].map(
      (port): RigSpec => ({ kind: "axeos", host: "127.63.0.1", port, mac: "02:51:00:00:00:0C" }),
    );
    await farmOf(specs);
    const { rigs } = await search({ networks: ["127.63.0.1"], ports: [8082, 8080] });
    expect(rigs.map(({ address }) => address)).toEqual(["127.63.0.1:8082"]);
  });

  test("an RPC beside a page is one rig", async () => {
    await farmOf([{ kind: "cgminer", host: "127.63.0.2", port: 4028 }]);
    await stranger("127.63.0.2", web, answering("<title>Configuration</title>"));
    const { rigs } = await search({ networks: ["127.63.0.2"], ports: [web] });
    expect(rigs).toMatchObject([{ address: "127.63.0.2", driver: "cgminer" }]);
  });

  test("programs of two kinds are two rigs", async () => {
    await farmOf([
      { kind: "cgminer", host: "127.63.0.3", port: 4028 },
      { kind: "xmrig", host: "127.63.0.3", port: 8080 },
    ]);
    const { rigs } = await search({ networks: ["127.63.0.3"], ports: [8080] });
    expect(rigs.map(({ address, driver }) => [address, driver])).toEqual([
      ["127.63.0.3", "cgminer"],
      ["127.63.0.3:8080", "xmrig"],
    ]);
  });
});

describe("mining programs", () => {
  test("are found at their usual ports on a computer that answers, each with its port", async () => {
    await farmOf([
      { kind: "claymore", host: "127.63.1.1", port: 3333 },
      { kind: "ccminer", host: "127.63.1.1", port: 4068 },
      { kind: "ccminer", hardware: "processor", host: "127.63.1.2", port: 4048 },
      { kind: "ethminer", host: "127.63.1.3", port: 3333 },
      { kind: "cgminer", dialect: "teamredminer", host: "127.63.1.4", port: 4028 },
      { kind: "mujina", host: "127.63.1.5", port: 7785 },
    ]);
    const { rigs, sockets } = await search({ networks: ["127.63.1.0/29"] });
    expect(rigs.map(({ address, driver, identity }) => [address, driver, identity.make])).toEqual([
      ["127.63.1.1:3333", "claymore", "PhoenixMiner"],
      ["127.63.1.1:4068", "ccminer", "ccminer"],
      ["127.63.1.2:4048", "ccminer", "cpuminer-opt"],
      ["127.63.1.3:3333", "ethminer", "ethminer"],
      ["127.63.1.4", "cgminer", "TeamRedMiner"],
      ["127.63.1.5:7785", "mujina", "Mujina"],
    ]);
    expect(sockets).toBeLessThanOrEqual(1_000);
  });

  (web !== 80 ? test.skip : test)(
    "are not looked for where every usual port is silent, unless their port is named",
    async () => {
      const host = "127.63.2.1";
      await silent(host, usualPorts);
      await farmOf([{ kind: "claymore", host, port: 3333 }]);
      expect((await search({ networks: [host] })).rigs).toEqual([]);
      const { rigs } = await search({ networks: [`${host}:3333`] });
      expect(rigs.map(({ address }) => address)).toEqual([`${host}:3333`]);
    },
    30_000,
  );
});

describe("what has announced itself", () => {
  test("is scanned where the plan does not cover it, and counted", async () => {
    const farm = await farmOf([
      { kind: "axeos", host: "127.64.1.9" },
      { kind: "axeos", host: "127.64.0.2" },
    ]);
    const announced = farm.rigs.map(({ host, port }) => ({ host, port }));
    const { rigs, progress } = await search({ networks: ["127.64.0.0/30"], announced });
    expect(rigs.map(({ address }) => address)).toEqual(farm.rigs.map(({ address }) => address).sort());
    expect(progress.at(-1)).toEqual({ scanned: 4, total: 4 });
  });

  test("is not scanned twice where the plan covers it", async () => {
    await farmOf([{ kind: "cgminer", host: "127.64.2.1", port: 4028 }]);
    const { rigs, progress } = await search({
      networks: ["127.64.2.1"],
      announced: [{ host: "127.64.2.1", port: 4028 }],
    });
    expect(rigs).toHaveLength(1);
    expect(progress).toHaveLength(1);
  });
});

describe("a search that is stopped", () => {
  test("keeps its results, opens nothing more, and leaves no socket", async () => {
    await farmOf([{ kind: "cgminer", host: "127.65.0.5", port: 4028 }]);
    await stranger("127.65.0.9", 4028, () => {});
    const stopping = new AbortController();
    const { rigs, progress } = await search({
      networks: ["127.65.0.0/16"],
      signal: stopping.signal,
      found: () => stopping.abort(),
    });
    expect(rigs.map(({ address }) => address)).toEqual(["127.65.0.5"]);
    expect(progress.length).toBeLessThan(65_534);
  });

  test("before it starts opens nothing", async () => {
    const { rigs, progress, sockets } = await search({ networks: ["127.65.0.0/24"], signal: AbortSignal.abort() });
    expect({ rigs, progress, sockets }).toEqual({ rigs: [], progress: [], sockets: 0 });
  });
});

test.each([
  [{ make: "Bitaxe", model: "Gamma 601" }, "Bitaxe Gamma 601"],
  [{ make: "Antminer", model: "Antminer S19" }, "Antminer S19"],
  [{ make: null, model: null }, "A rig"],
])("%j is described as %s", (identity, words) => {
  expect(describeRig({ ...unknownIdentity, ...identity })).toBe(words);
});

describe("a rig that a scan has connected to is closed", () => {
  /** How many were connected to, and how many of these were closed. */
  function counted(): { connected: number; closed: number } {
    const counts = { connected: 0, closed: 0 };
    for (const driver of drivers) {
      const { connect } = driver;
      const counting: typeof connect = (link) => {
        const rig = connect.call(driver, link);
        const close = rig.close.bind(rig);
        let isOpen = true;
        counts.connected += 1;
        return Object.assign(rig, {
          close: () => {
            if (isOpen) counts.closed += 1;
            isOpen = false;
            close();
          },
        });
      };
      Object.assign(driver, { connect: counting });
      onTestFinished(() => void Object.assign(driver, { connect }));
    }
    return counts;
  }

  const kinds: readonly RigSpec[] = [
    { kind: "axeos", host: "127.99.8.1", warm: true },
    { kind: "cgminer", host: "127.99.8.2", warm: true },
    { kind: "whatsminer", host: "127.99.8.3", warm: true },
    { kind: "antminer", host: "127.99.8.4", warm: true },
    { kind: "avalon", host: "127.99.8.5", warm: true },
    { kind: "braiins", host: "127.99.8.6", warm: true },
    { kind: "luxos", host: "127.99.8.7", warm: true },
    { kind: "vnish", host: "127.99.8.8", warm: true },
  ];
  const networks = ["127.99.8.0/28"];

  test("when it was found, whatever it is", async () => {
    const { rigs: farm } = await farmOf(kinds);
    const ports = farm.map(({ port }) => port);
    const counts = counted();
    const { rigs } = await search({ networks, ports });
    expect(rigs).toHaveLength(kinds.length);
    expect(counts.connected).toBeGreaterThanOrEqual(kinds.length);
    expect(counts.closed).toBe(counts.connected);
  });

  test("when it falls silent after it was recognised", async () => {
    const { rigs: farm } = await farmOf([{ kind: "cgminer", host: "127.99.8.2", warm: true }]);
    const [rig] = farm;
    if (rig === undefined) throw new Error("one rig");
    const counts = counted();
    for (const driver of drivers) {
      const { connect } = driver;
      const silenced: typeof connect = (link) => {
        rig.fault = "silent";
        return connect.call(driver, link);
      };
      Object.assign(driver, { connect: silenced });
    }
    const { rigs } = await search({ networks: ["127.99.8.2"], ports: [rig.port] });
    expect(rigs.map(({ note }) => note !== null)).toEqual([true]);
    expect(counts).toEqual({ connected: 1, closed: 1 });
  });

  test("when the scan is aborted at any rig", async () => {
    const { rigs: farm } = await farmOf(kinds);
    const ports = farm.map(({ port }) => port);
    for (let after = 1; after <= 3; after += 1) {
      const counts = counted();
      const stopping = new AbortController();
      let found = 0;
      const stop = (): void => {
        found += 1;
        if (found === after) stopping.abort();
      };
      await search({ networks, ports, signal: stopping.signal, found: stop });
      expect(found).toBeGreaterThanOrEqual(after);
      expect(counts.connected).toBeGreaterThan(0);
      expect(counts.closed).toBe(counts.connected);
    }
  });

  test("when its listener throws", async () => {
    const { rigs: farm } = await farmOf(kinds);
    const ports = farm.map(({ port }) => port);
    const counts = counted();
    const found = (): void => {
      throw new TypeError("an invented fault");
    };
    await expect(search({ networks, ports, found })).rejects.toThrow("an invented fault");
    expect(counts.connected).toBeGreaterThan(0);
    expect(counts.closed).toBe(counts.connected);
  });
});
