import { createServer, type ServerResponse } from "node:http";
import { z } from "zod";
import { operationNames, operations } from "../../src/contract/operations.ts";
import { answering } from "./child.ts";

/**
 * Sites in one process that answer like Rigbridges, with rows that are made up: on two cores no machine could read a hundred
 * thousand rigs beside what is measured. Each change of a row says the time at which it was sent.
 */

const Asked = z.object({ sites: z.int(), rigs: z.int(), everySeconds: z.number() });

const document = JSON.stringify({
  info: { "x-rigbridge": true },
  paths: {
    ...Object.fromEntries(
      operationNames.map((name) => [
        `${operations[name].path}#${name}`,
        { [operations[name].method.toLowerCase()]: { operationId: name } },
      ]),
    ),
    "/api/session": { get: { operationId: "getSession" } },
  },
  components: { parameters: { "Idempotency-Key": {} } },
});

const rowAt = (id: number, stamp: number) => ({
  id,
  uid: null,
  name: `rig ${id}`,
  group: 0,
  location: null,
  tags: ["hall-1"],
  status: "Mining",
  reason: null,
  hashrate: 95_000_000_000_000 + (stamp % 1000) * 1_000_000_000,
  expected: 95_000_000_000_000,
  power: 3_250,
  temperature: 60,
  pool: "pool.example",
  coin: "BTC",
  profit: 2.5,
  alarms: 0,
  readAt: null,
  repair: null,
  model: "Antminer S19",
  software: "antminer",
  hostname: "10.0.0.1",
  address: "10.0.0.1:80",
  algorithm: "SHA-256",
  worker: "farm.1",
  hashrateAverage: 95_000_000_000_000,
  efficiency: 3.4e-11,
  startedAt: "2026-01-01T00:00:00.000Z",
  powerLimit: null,
  mode: null,
  rejected: 0.001,
  bestShare: null,
  revenue: 5,
  cost: 2.5,
  energy: stamp,
});

const summaryOf = (rigs: number, instance: string) => ({
  runningCount: rigs,
  totalCount: rigs,
  gpuCount: 0,
  pgaCount: 0,
  asicCount: rigs * 3,
  exchangeRate: "$0.00",
  revenuePerDay: "$0.00",
  revenuePerMonth: "$0.00",
  coinList: [],
  algorithmList: [],
  energy: null,
  groupList: [],
  metaData: { updated: "2026-01-01 00:00:00", edition: instance, version: "1", infoList: [], warningList: [] },
});

const about = (instance: string) => ({
  user: { id: 1, name: "centre", privilege: "administrator", sees: "all" },
  display: { locale: "en-US", currency: "USD", timeZone: "UTC" },
  demo: false,
  operations: operationNames,
  instance,
});

async function startOne(index: number, rigs: number, everySeconds: number): Promise<string> {
  const instance = `site ${index}`;
  const streams = new Set<ServerResponse>();
  const list = JSON.stringify({
    version: "run.1.0",
    whole: true,
    miners: Array.from({ length: rigs }, (_, at) => rowAt(at + 1, 0)),
    removed: [],
  });
  const answers: Readonly<Record<string, () => string>> = {
    "/openapi.json": () => document,
    "/api/session": () => JSON.stringify(about(instance)),
    "/api/version": () => JSON.stringify({ name: "Rigbridge", version: "1.0.0", newest: null }),
    "/api/groups": () => "[]",
    "/api/summary": () => JSON.stringify(summaryOf(rigs, instance)),
    "/api/miners": () => list,
  };
  const server = createServer((request, response) => {
    const [path = ""] = (request.url ?? "").split("?");
    if (path === "/api/events") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(":\n\n");
      streams.add(response);
      response.on("close", () => streams.delete(response));
      return;
    }
    const answer = answers[path];
    response.writeHead(answer === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(answer?.() ?? "{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  let event = 1;
  let next = 0;
  const turnMs = 50;
  let owed = 0;
  setInterval(() => {
    if (streams.size === 0) return;
    owed += (rigs / everySeconds) * (turnMs / 1000);
    let text = "";
    for (; owed >= 1; owed -= 1) {
      event += 1;
      next = (next % rigs) + 1;
      text += `event: miner\nid: ${event}\ndata: ${JSON.stringify(rowAt(next, Date.now()))}\n\n`;
    }
    for (const stream of streams) stream.write(text);
  }, turnMs);
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("a generated site has no port");
  return `http://127.0.0.1:${address.port}`;
}

answering({
  start: async (input) => {
    const { sites, rigs, everySeconds } = Asked.parse(input);
    return Promise.all(Array.from({ length: sites }, (_, index) => startOne(index, rigs, everySeconds)));
  },
});
