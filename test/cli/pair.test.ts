import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { type Farm, startFarm } from "../../src/simulator/index.ts";
import { freePort } from "../free-port.ts";
import { startRelay } from "../relay.ts";
import { LeaseRecord, recordLease } from "../store/lease-record.ts";
import { startLine } from "../store/line.ts";
import { hasPostgres, type Postgres, startPostgres } from "../store/postgres.ts";
import { until } from "../until.ts";
import { type Running, rigbridge, running } from "./command.ts";

// depends on: src/**, test/store/*.ts

const suite = hasPostgres("two services with one store in a real PostgreSQL") ? describe : describe.skip;

interface Member {
  readonly service: Running;
  readonly url: string;
  readonly config: string;
}

let folder = "";
let farm: Farm;
let server: Postgres;
const services: Running[] = [];

/** Starts a service of the pair, and waits until it has said what it is. */
async function start(config: string, says: RegExp): Promise<Running> {
  const service = await running(["serve", "--config", config], says, { cwd: folder });
  services.push(service);
  return service;
}

async function member(name: string, database: string, says: RegExp, store = server.url(database)): Promise<Member> {
  const port = await freePort();
  const config = join(folder, `${name}.yaml`);
  const [rig] = farm.rigs;
  const text = `http: {port: ${port}}\nstore: {url: "${store}", site: barn}\nminers: [{address: "${rig?.address}", name: desk}]\n`;
  await writeFile(config, text, { mode: 0o600 });
  return { service: await start(config, says), url: `http://127.0.0.1:${port}`, config };
}

const active = /is ready at http/;
const standby = /this one waits to take its place/;

const ask = async (url: string, path: string, body?: object): Promise<{ status: number; body: unknown }> => {
  const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body), headers: json };
  const response = await fetch(`${url}${path}`, init);
  return { status: response.status, body: await response.json() };
};
const json = { "content-type": "application/json" };

suite("a pair of services", () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "rigbridge-pair-"));
    farm = await startFarm({ rigs: [{ kind: "axeos", warm: true }] });
    server = await startPostgres();
  });
  afterEach(async () => {
    for (const service of services.splice(0)) {
      service.signal("SIGKILL");
      await service.ended;
    }
  });
  afterAll(async () => {
    await server.stop();
    await farm.close();
    await rm(folder, { recursive: true });
  });

  test("goes on with the other one when the active one is killed, with all that was confirmed", async () => {
    const database = await server.database();
    const one = await member("one", database, active);
    const other = await member("other", database, standby);
    expect(await ask(one.url, "/health/active")).toMatchObject({ status: 200, body: { role: "active", epoch: 1 } });
    expect(await ask(other.url, "/health")).toMatchObject({ status: 200, body: { status: "ok", role: "standby" } });
    const refused = { status: 503, body: { code: "service.no.active" } };
    expect(await ask(other.url, "/health/active")).toMatchObject(refused);
    // The one that waits passes on what it is asked.
    expect(await ask(other.url, "/api/groups", { name: "attic" })).toMatchObject({ body: { name: "attic" } });
    expect((await ask(one.url, "/api/groups")).body).toEqual((await ask(other.url, "/api/groups")).body);
    one.service.signal("SIGKILL");
    await one.service.ended;
    await until(() => active.test(other.service.said()), "the other one to take over", { details: other.service.said });
    expect(await ask(other.url, "/health/active")).toMatchObject({ status: 200, body: { role: "active", epoch: 2 } });
    expect((await ask(other.url, "/api/groups")).body).toContainEqual(expect.objectContaining({ name: "attic" }));
    const again = await start(one.config, standby);
    other.service.signal("SIGTERM");
    await until(() => active.test(again.said()), "the first one to be active again", { details: again.said });
    for (const { said } of services) expect(said()).not.toContain("secret");
  });

  test("never has two that act, and its holder keeps the lease over a restart of the engine", async () => {
    const database = await server.database();
    const lines = [await startLine(server), await startLine(server)] as const;
    const [url, otherUrl] = lines.map((line) => line.urlOf(server.url(database)));
    const one = await member("one", database, active, url);
    const other = await member("other", database, standby, otherUrl);
    const run = (sql: string) => server.run(sql, database);
    await recordLease(run);
    const epochOf = async (place: Member): Promise<unknown> => {
      const answer = await ask(place.url, "/health/active").catch(() => null);
      return answer?.status === 200 ? answer.body : null;
    };
    const isActive = (place: Member, epoch: number) =>
      until(async () => (await epochOf(place)) !== null, `epoch ${epoch}`, { details: place.service.said }).then(
        async () => expect(await epochOf(place)).toMatchObject({ epoch }),
      );
    const waits = ({ service: { said } }: Member, times: number) =>
      until(() => said().split(standby).length > times, "the service to wait", { details: said });

    // Stopped with a request under way, and with a file that has become wrong meanwhile.
    one.service.signal("SIGSTOP");
    const config = await readFile(one.config);
    await writeFile(one.config, "{");
    await isActive(other, 2);
    const late = ask(one.url, "/api/groups", { name: "late" }).catch(() => null);
    one.service.signal("SIGCONT");
    expect((await late)?.status ?? 503).toBe(503);
    await waits(one, 1);
    await writeFile(one.config, config);
    expect(one.service.said()).toContain("Another service of the site has taken over");
    expect(one.service.said()).toContain("this service waits with the one that it had");
    expect((await ask(other.url, "/api/groups")).body).not.toContainEqual(expect.objectContaining({ name: "late" }));

    lines[1].cut();
    await isActive(one, 3);
    expect(await epochOf(other)).toBeNull();
    lines[1].restore();
    await waits(other, 1);

    await server.kill();
    await until(async () => (await epochOf(one)) === null, "the active one to see that the engine is away");
    await server.start();
    await isActive(one, 3);

    const record = await LeaseRecord.read(run);
    expect(record).toMatchObject({ epoch: 3, wrong: [] });
    for (const line of lines) await line.close();

    other.service.signal("SIGTERM");
    expect(await other.service.ended).toMatchObject({ code: 0 });
    expect(other.service.said()).not.toContain("Shutdown did not finish");
  });

  test("start again if the database goes away during a restart, after the store was opened", async () => {
    const database = await server.database();
    let isRestarting = false;
    let isAway = false;
    const sockets = new Set<Socket>();
    const relay = await startRelay(server, (client, behind) => {
      for (const socket of [client, behind]) {
        sockets.add(socket);
        socket.on("close", () => sockets.delete(socket));
      }
      if (isAway) return void client.destroy();
      behind.pipe(client);
      client.on("data", (bytes: Buffer) => {
        // The service reads it once it has its store.
        isAway ||= isRestarting && bytes.includes("from money_total");
        if (isAway) for (const socket of sockets) socket.destroy();
        else behind.write(bytes);
      });
    });
    const url = server.url(database).replace(`${server.host}:${server.port}`, `127.0.0.1:${relay.port}`);
    const { service, url: address } = await member("one", database, active, url);
    expect(await ask(address, "/api/groups", { name: "attic" })).toMatchObject({ status: 201 });
    isRestarting = true;
    await server.run("update rigbridge.lease set holder = 'another', epoch = epoch + 1", database);
    const { said } = service;
    await until(() => said().includes("The store was lost while this service started"), "it to go away", {
      details: said,
    });
    isRestarting = false;
    isAway = false;
    await until(() => said().split(active).length === 3, "the service to be ready again", { details: said });
    expect((await ask(address, "/api/groups")).body).toContainEqual(expect.objectContaining({ name: "attic" }));
    service.signal("SIGTERM");
    expect(await service.ended).toMatchObject({ code: 0 });
    expect(said()).not.toMatch(/restart failed|secret/);
    await relay.close();
  });

  test("is of one site; doctor and backup say what its store is", async () => {
    const database = await server.database();
    const one = await member("one", database, active);
    const attic = join(folder, "attic.yaml");
    await writeFile(attic, `store: {url: "${server.url(database)}", site: attic}\n`, { mode: 0o600 });
    const refused = await rigbridge(["serve", "--port", "0", "--config", attic], { cwd: folder });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('holds the site "barn", and store.site is "attic"');
    const doctor = await rigbridge(["doctor", "--config", one.config], { cwd: folder });
    expect(doctor.stdout.replaceAll(/\s+/g, " ")).toMatch(
      /Store.*postgres:\/\/postgres@\S+, the active service is http:\/\/127\.0\.0\.1/,
    );
    const backup = await rigbridge(["backup", "copy.db", "--config", one.config], { cwd: folder });
    expect(backup.stderr).toContain("copy it with pg_dump");
    for (const { stdout, stderr } of [refused, doctor, backup]) expect(stdout + stderr).not.toContain("secret");
  });
});
