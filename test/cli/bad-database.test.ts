import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Client } from "pg";
import { onTestFinished } from "../finished.ts";
import { freePort } from "../free-port.ts";
import { hasPostgres, type Postgres, startPostgres } from "../store/postgres.ts";
import { until } from "../until.ts";
import { rigbridge, running } from "./command.ts";

// depends on: src/**, test/store/postgres.ts

const suite = hasPostgres("a service whose real PostgreSQL is unfit") ? describe : describe.skip;

let folder = "";
let server: Postgres;

const configOf = async (name: string, url: string, more: object = {}) => {
  const config = join(folder, `${name}.yaml`);
  const port = await freePort();
  const settings = { http: { port }, store: { url, site: "barn", ...more } };
  await writeFile(config, JSON.stringify(settings), { mode: 0o600 });
  return { config, url: `http://127.0.0.1:${port}` };
};

suite("a service with a database", () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "rigbridge-database-"));
    server = await startPostgres();
  });
  afterAll(async () => {
    await server.stop();
    await rm(folder, { recursive: true });
  });

  test("whose connections are all in use does not start; while it runs, writes say why and since when", async () => {
    const database = await server.database();
    await server.run("create role few login password 'secret word' connection limit 8");
    await server.run(`grant create on database ${database} to few`);
    const { config, url } = await configOf("few", server.url(database, "few", "secret word"));
    const others: Client[] = [];
    const release = async (): Promise<void> => {
      await Promise.all(others.splice(0).map((each) => each.end()));
    };
    onTestFinished(release);
    /** Takes every connection that is left. */
    const fill = async (): Promise<void> => {
      for (;;) {
        const other = new Client({ connectionString: server.url(database, "few", "secret word") });
        other.on("error", () => undefined);
        try {
          await other.connect();
        } catch {
          return;
        }
        others.push(other);
      }
    };
    await fill();
    const refused = await rigbridge(["serve", "--config", config], { cwd: folder });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(
      /^The store postgres:\/\/few@\S+ cannot be reached: all connections of the server are in use\. Nothing was changed\.$/m,
    );
    await release();
    const service = await running(["serve", "--config", config], /is ready at http/, { cwd: folder });
    onTestFinished(() => service.signal("SIGKILL"));
    const add = async (name: string) => {
      const init = { method: "POST", body: JSON.stringify({ name }), headers: { "content-type": "application/json" } };
      const response = await fetch(`${url}/api/groups`, init);
      return { status: response.status, text: await response.text() };
    };
    expect(await add("before")).toMatchObject({ status: 201 });
    // All of its connections but the one that renews the lease.
    await server.run(
      "select pg_terminate_backend(pid, 10000) from pg_stat_activity where usename = 'few' and application_name <> 'rigbridge lease'",
    );
    await fill();
    await until(async () => (await add("meanwhile")).text.includes("connections"), "the service to need a connection");
    const answer = await add("meanwhile");
    expect(answer.status).toBe(503);
    expect(answer.text).toMatch(
      /The store postgres:\/\/few@\S+ cannot be reached since \d\d:\d\d:\d\d \(UTC\): all connections of the server are in use/,
    );
    await release();
    await until(async () => (await add("after")).status === 201, "the service to write again");
    service.signal("SIGTERM");
    const { stdout, stderr } = await service.ended;
    for (const text of [refused.stdout, refused.stderr, stdout, stderr, answer.text])
      expect(text).not.toMatch(/secret(%20|\+| )word/);
  });

  test("that may lose what it has confirmed is used only with store.allowLoss", async () => {
    const database = await server.database();
    await server.run(`alter database ${database} set synchronous_commit = off`);
    const refusing = await configOf("refusing", server.url(database));
    const refused = await rigbridge(["serve", "--config", refusing.config], { cwd: folder });
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("or allow that with store.allowLoss") });
    const { config } = await configOf("allowing", server.url(database), { allowLoss: true });
    const service = await running(["serve", "--config", config], /is ready at http/, { cwd: folder });
    service.signal("SIGTERM");
    expect((await service.ended).code).toBe(0);
    const doctor = await rigbridge(["doctor", "--config", config], { cwd: folder });
    expect(doctor.stdout.replaceAll(/\s+/g, " ")).toMatch(/Store.*no service is active/);
  });
});
