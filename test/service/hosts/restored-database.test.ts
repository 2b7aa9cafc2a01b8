import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { pino } from "pino";
import { Connection } from "../../../src/agent/connection.ts";
import { SeenLease } from "../../../src/agent/seen-lease.ts";
import type { ToAgent } from "../../../src/contract/agent.ts";
import { type HttpServer, startHttpServer } from "../../../src/http/index.ts";
import { openPostgresStore } from "../../../src/store/index.ts";
import { onTestFinished } from "../../finished.ts";
import { freePort } from "../../free-port.ts";
import { folders } from "../../store/folder.ts";
import { hasPostgres, type Postgres, startPostgres } from "../../store/postgres.ts";
import { until } from "../../until.ts";
import { caller, closeBenches, configOf, openBench } from "../bench.ts";
import { report } from "./agent-double.ts";
import { noFields } from "./hosts-bench.ts";

// depends on: src/**, test/store/*.ts

const suite = hasPostgres("agents of a service whose database was restored") ? describe : describe.skip;
const folder = folders();
let server: Postgres;
let http: HttpServer | null = null;

/** Ends the service, so that its database can be copied. */
async function stop(): Promise<void> {
  await http?.close();
  http = null;
  await closeBenches();
}

/** The service of the site over a database, at a port, as on a machine that has not seen the store before. */
async function serve(database: string, port: number, acceptRestored = false) {
  const said: string[] = [];
  const log = pino({ level: "error" }, { write: (line: string) => said.push(JSON.parse(line).msg) });
  const options = { url: server.url(database), now: Date.now, site: "home", address: null, acceptRestored };
  const bench = await openBench({ store: await openPostgresStore(options), log });
  const { http: settings } = configOf({ http: { port, key: "key-of-the-service-1" } });
  const { service, store } = bench;
  const silent = pino({ level: "silent" });
  http = await startHttpServer({ service, settings, log: silent, version: "1.2.3", lease: store.lease });
  return { bench, said };
}

/** An agent that runs no program; what its services have sent to it. */
function connect(port: number, token: string) {
  const messages: ToAgent[] = [];
  const options = { services: [new URL(`http://127.0.0.1:${port}`)] as const, token, ca: null, insecure: false };
  const limits = { refusedMs: 20, backOff: { firstMs: 20, longestMs: 20 } };
  const log = pino({ level: "silent" });
  const seen = new SeenLease(join(folder(), "service.lease"));
  const connection = new Connection({ ...options, log, limits }, seen, (link) => {
    const permissions = { folders: ["/opt"], downloads: false, reboot: true, gpuSettings: false };
    link.send({ t: "hello", version: "1.2.3", permissions, software: [], host: report(), programs: [], foreign: [] });
    return { message: (message) => messages.push(message), frame: () => undefined, closed: () => undefined };
  });
  onTestFinished(() => connection.close());
  return messages;
}

suite("agents and a database that was restored from a backup", () => {
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterEach(stop);
  afterAll(() => server.stop());

  test("refuse a service that was not told to accept it, which says so, and take one that was", async () => {
    const [database, port] = [await server.database(), await freePort()];
    const { bench } = await serve(database, port);
    const host = await bench.service.saveHost({ id: 0, hostname: "rig-3", description: undefined }, caller);
    const { token } = await bench.service.addAgent({ hostId: host.id }, caller);
    const managed = { ...noFields, hostId: host.id, softwareType: "XmrigMiner", algorithm: "rx/0" };
    const miner = await bench.service.saveManagedMiner({ ...managed, softwarePath: "/opt/xmrig" }, caller);
    await stop();
    const backup = await server.database(database);
    const later = await serve(database, port);
    const messages = connect(port, token);
    await until(() => messages.length === 1, "the agent to be connected");
    await stop();

    const restored = await serve(backup, port);
    expect([later.bench.store.lease?.epoch, restored.bench.store.lease?.epoch]).toEqual([2, 2]);
    await until(() => restored.said.length > 0, "the service to say that the agent refuses it");
    expect(restored.said).toEqual([
      "The agent of a host refuses this service, whose database is older than it has seen it, or a copy (seen: epoch 2); " +
        "if it was restored from a backup, start one service once with --accept-restored",
    ]);
    await restored.bench.poll(miner.id);
    expect((await restored.bench.get(miner.id)).readings.notes).toContain(
      "The agent of the host rig-3 refuses this service, whose database is older than it has seen it, or a copy " +
        "(epoch 2; seen: epoch 2); if it was restored from a backup, start this service once with --accept-restored",
    );
    expect((await restored.bench.service.getHost({ id: host.id }, caller)).agent?.connected).toBe(false);
    await stop();
    expect(messages).toHaveLength(1);

    const accepted = await serve(backup, port, true);
    await until(() => messages.length === 2, "the agent to be connected again");
    expect(accepted.bench.store.lease?.epoch).toBe(1002);
    expect((await accepted.bench.service.getHost({ id: host.id }, caller)).agent?.connected).toBe(true);
  });
});
