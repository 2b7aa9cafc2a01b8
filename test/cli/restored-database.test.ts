import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { onTestFinished } from "../finished.ts";
import { freePort } from "../free-port.ts";
import { hasPostgres, type Postgres, startPostgres } from "../store/postgres.ts";
import { rigbridge, running } from "./command.ts";

// depends on: src/**, test/store/postgres.ts

const suite = hasPostgres("a restored database in a real PostgreSQL") ? describe : describe.skip;

let folder = "";
let server: Postgres;

suite("rigbridge serve --accept-restored", () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "rigbridge-restored-"));
    server = await startPostgres();
  });
  afterAll(async () => {
    await server.stop();
    await rm(folder, { recursive: true });
  });

  test("uses a database that was restored, for one start", async () => {
    const database = await server.database();
    const config = join(folder, "rigbridge.yaml");
    const settings = { http: { port: await freePort() }, store: { url: server.url(database), site: "barn" } };
    await writeFile(config, JSON.stringify(settings), { mode: 0o600 });
    const once = async (...options: string[]): Promise<string> => {
      const service = await running(["serve", "--config", config, ...options], /is ready at http/, { cwd: folder });
      onTestFinished(() => service.signal("SIGKILL"));
      service.signal("SIGTERM");
      return (await service.ended).stdout;
    };
    expect(await once()).toContain("(epoch 1)");
    const backup = await server.database(database);
    expect(await once()).toContain("(epoch 2)");
    await server.run(`drop database ${database} with (force)`);
    await server.run(`create database ${database} template ${backup}`);
    const refused = await rigbridge(["serve", "--config", config], { cwd: folder });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("is older than this service has seen it");
    const doctor = await rigbridge(["doctor", "--config", config], { cwd: folder });
    expect(doctor.code).toBe(1);
    expect(doctor.stdout.replaceAll(/\s+/g, " ")).toMatch(/Store.*is older than this service has seen it/);
    const accepted = await once("--accept-restored");
    expect(accepted).toContain("commands that were open in it count as unknown");
    expect(accepted).toContain("(epoch 1002)");
    const after = await once();
    expect(after).toContain("(epoch 1003)");
    expect(after).not.toContain("count as unknown");
  });

  test("is not for a file", async () => {
    const data = join(folder, "data");
    const refused = await rigbridge(["serve", "--data", data, "--port", "0", "--accept-restored"], { cwd: folder });
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("--accept-restored is for a store in a"),
    });
  });
});
