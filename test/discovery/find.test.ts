import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import { createServer as createTcpServer, type Server, type Socket } from "node:net";
import { hostname } from "node:os";
import { afterEach, describe, expect, test } from "@jest/globals";
import { announceService } from "../../src/discovery/announce.ts";
import { byMachine } from "../../src/discovery/find.ts";
import { findServices } from "../../src/discovery/index.ts";
import { type AnnouncedEndpoint, recordsOf, rigbridgeType } from "../../src/discovery/records.ts";
import { startTwin } from "../../src/simulator/reference/index.ts";
import { serve } from "../http/wire.ts";
import { ownHost } from "../own-host.ts";
import { garbage } from "./garbage.ts";
import { listener, listensMs, neighbour, onLoopback, responder, send, testWithMulticast } from "./multicast.ts";

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

const never = new AbortController().signal;
/** Of this machine alone. */
const here = (...ports: readonly number[]) => findServices({ signal: never, ports, interfaces: [], timeoutMs: 0 });
/** Of the network alone. */
const around = () => findServices({ signal: never, ports: [], timeoutMs: listensMs, ...onLoopback });
const name = expect.stringMatching(hostname().split(".")[0] ?? "");

async function rigbridge(host = "127.0.0.1", key?: string): Promise<{ port: number; url: string; asked(): number }> {
  const served = await serve(key === undefined ? {} : { key }, {}, host);
  open.push(() => served.server.close());
  return { port: served.port, url: served.server.url, asked: () => served.logged.length };
}

async function listening(server: Server, cut: () => void, host = strangeHost): Promise<number> {
  server.listen(0, host);
  await once(server, "listening");
  open.push(() => {
    cut();
    server.close();
    return once(server, "close");
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** What stands in for other machines is on no address of this one. */
const strangeHost = ownHost();
const strangers: Readonly<Record<string, (request: IncomingMessage, response: ServerResponse) => void>> = {
  "answers with a web page": (_, response) => response.setHeader("content-type", "text/html").end("<html>ok</html>"),
  "answers with nothing": (_, response) => response.end(),
  "answers with other JSON": (_, response) => response.end('{"status":"up","version":"1.2.3"}'),
  "answers with a version that is none": (_, response) => response.end('{"status":"ok","version":"<b>1.2.3</b>"}'),
  "answers with an error": (_, response) => response.writeHead(500).end('{"status":"ok","version":"1.2.3"}'),
  "never answers": () => {},
  "never ends its answer": (_, response) => {
    response.write('{"status":"ok","version":"1.2.3"');
  },
  "sends bytes without an end": (_, response) => {
    const more = (): void => {
      while (response.write(Buffer.alloc(65_536, 0x20)));
    };
    response.on("drain", more);
    more();
  },
};

async function stranger(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<number> {
  const server = createServer(answer);
  return listening(server, () => server.closeAllConnections());
}

let ids = 0;
const offerOf = (port: number, address = strangeHost): AnnouncedEndpoint => {
  ids += 1;
  return { id: ids.toString(16).padStart(8, "0"), address, port, version: "9.9.9" };
};

describe("on this machine", () => {
  test("a Rigbridge is found, with a key or without", async () => {
    const [free, locked] = [await rigbridge(), await rigbridge("127.0.0.1", "a-key-of-some-length")];
    expect(await here(free.port, locked.port)).toEqual([
      { url: free.url, name, kind: "rigbridge", version: "1.2.3" },
      { url: locked.url, name, kind: "rigbridge", version: "1.2.3" },
    ]);
  });

  test("Awesome Miner is found if it requires no key", async () => {
    const [free, locked] = [await startTwin({}), await startTwin({ key: "its key" })];
    open.push(
      () => free.close(),
      () => locked.close(),
    );
    const ports = [free, locked].map(({ url }) => Number(new URL(url).port));
    expect(await here(...ports)).toEqual([{ url: free.url, name, kind: "foreign", version: null }]);
    expect(locked.requests.paths.join()).not.toContain("key");
  });

  test("nothing is found if nothing listens", async () => {
    const { port } = await rigbridge();
    await open.pop()?.();
    expect(await here(port)).toEqual([]);
  });
});

test("a service announced at an address of this machine is probed by loopback first", () => {
  const own = { name: "own", hosts: ["192.168.1.5"], port: 17790 };
  const other = { name: "other", hosts: ["192.168.1.6"], port: 17790 };
  expect(byMachine([other, own], new Set(["192.168.1.5", "::1"]))).toEqual({
    here: [{ ...own, hosts: ["127.0.0.1", "192.168.1.5"] }],
    elsewhere: [other],
  });
});

describe("in the network", () => {
  testWithMulticast("a Rigbridge that announces itself is found once, however often it does", async () => {
    const { port, url } = await rigbridge(strangeHost);
    const offer = offerOf(port);
    await responder(rigbridgeType, () => recordsOf(offer));
    expect(await around()).toEqual([{ url, name, kind: "rigbridge", version: "1.2.3" }]);
  });

  testWithMulticast("this machine's own is found once, by loopback, and before all others", async () => {
    const [own, other] = [await rigbridge(), await rigbridge(strangeHost)];
    const offer = offerOf(other.port);
    await responder(rigbridgeType, () => recordsOf(offer));
    const announcing = await announceService({
      address: { host: "0.0.0.0", port: own.port },
      version: "1.2.3",
      log: { warn: () => {} },
      udpPort: onLoopback.udpPort,
      interfaces: () => onLoopback.interfaces,
      now: growing(),
    });
    open.push(() => announcing.close());
    const urls = [own.url, other.url];
    const both = await findServices({ signal: never, ports: [own.port], timeoutMs: listensMs, ...onLoopback });
    expect(both.map(({ url }) => url)).toEqual(urls);
    expect((await around()).map(({ url }) => url)).toEqual(urls);
  });

  testWithMulticast("a service at several addresses is found by the first that answers", async () => {
    const { port, url } = await rigbridge(strangeHost);
    const offer = offerOf(port);
    const elsewhere = recordsOf({ ...offer, address: ownHost() }).answers;
    await responder(rigbridgeType, () => ({ answers: [...elsewhere, ...recordsOf(offer).answers] }));
    expect((await around()).map((each) => each.url)).toEqual([url]);
  });

  testWithMulticast("an announced server that is not a Rigbridge is not listed, and hides no other", async () => {
    const { port, url } = await rigbridge(strangeHost);
    const ports = await Promise.all(Object.values(strangers).map(stranger));
    const sockets = new Set<Socket>();
    const raw = createTcpServer((socket) => {
      sockets.add(socket.on("error", () => {}));
      socket.write("SSH-2.0-Nothing\r\n");
    });
    ports.push(
      await listening(raw, () => {
        for (const socket of sockets) socket.destroy();
      }),
    );
    const offers = [...ports, port].map((each) => offerOf(each));
    await responder(rigbridgeType, () => ({ answers: offers.flatMap((offer) => recordsOf(offer).answers) }));
    expect((await around()).map((each) => each.url)).toEqual([url]);
  });

  testWithMulticast("a redirect is not followed", async () => {
    const target = await rigbridge();
    const port = await stranger((_, response) => response.writeHead(302, { location: `${target.url}/health` }).end());
    const offer = offerOf(port);
    await responder(rigbridgeType, () => recordsOf(offer));
    expect(await around()).toEqual([]);
    expect(target.asked()).toBe(0);
  });

  testWithMulticast("a device that announces hundreds of services causes at most fifty probes", async () => {
    let asked = 0;
    const port = await stranger((_, response) => {
      asked += 1;
      response.end();
    });
    const shout = await neighbour();
    shout.on("query", () => {
      for (let each = 0; each < 300; each += 1) shout.respond(recordsOf(offerOf(port)));
    });
    expect(await around()).toEqual([]);
    expect(asked).toBeGreaterThan(0);
    expect(asked).toBeLessThanOrEqual(50);
  });

  testWithMulticast("garbage hides nothing, and no name contains a line break", async () => {
    const { port, url } = await rigbridge(strangeHost);
    const offer = offerOf(port);
    const rude = recordsOf(offer).answers.map((each) =>
      each.type === "TXT" ? { ...each, data: [`name=rude\u001b[2J\n\u202eone${"!".repeat(200)}`.slice(0, 240)] } : each,
    );
    const { mdns } = await listener();
    mdns.on("query", () => {
      void send(...garbage).then(() => mdns.respond({ answers: rude }));
    });
    const [service, ...more] = await around();
    expect(more).toEqual([]);
    expect(service).toMatchObject({ url, name: expect.stringMatching(/^rude \[2J one!+…$/) });
  });

  testWithMulticast("an aborted search returns what it has found", async () => {
    const stopping = new AbortController();
    const server = createServer((_, response) => response.end('{"status":"ok","version":"1.2.3"}'));
    // Who asked has had the answer when it hangs up.
    server.on("connection", (socket) => socket.on("close", () => stopping.abort()));
    const port = await listening(server, () => server.closeAllConnections(), "127.0.0.1");
    const search = { signal: stopping.signal, ports: [port], timeoutMs: 3_600_000, ...onLoopback };
    expect(await findServices(search)).toMatchObject([{ kind: "rigbridge", version: "1.2.3" }]);
  });

  test("a missing interface affects nothing else", async () => {
    const { port, url } = await rigbridge();
    const search = { signal: never, ports: [port], timeoutMs: 50, interfaces: ["198.51.100.7"] };
    expect((await findServices(search)).map((each) => each.url)).toEqual([url]);
  });
});

/** A clock on which there is always a second between two looks. */
function growing(): () => number {
  let time = 0;
  return () => {
    time += 1_000;
    return time;
  };
}
