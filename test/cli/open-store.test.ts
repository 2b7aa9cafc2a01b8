import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { pino } from "pino";
import { openServiceStore } from "../../src/cli/open-store.ts";
import { Shutdown } from "../../src/cli/shutdown.ts";
import { defaultConfig } from "../../src/config/index.ts";
import { onTestFinished } from "../finished.ts";
import { freePort } from "../free-port.ts";
import { hasPostgres, startPostgres } from "../store/postgres.ts";
import { until } from "../until.ts";

// depends on: src/**, test/store/postgres.ts

const testIf = hasPostgres("a service whose database is away when it starts again") ? test : test.skip;

testIf("a service that starts again in its process waits for its database; the first start fails", async () => {
  const folder = await mkdtemp(join(tmpdir(), "rigbridge-open-store-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const url = server.url(await server.database());
  const port = await freePort();
  const said: string[] = [];
  const log = pino({ level: "info" }, { write: (line: string) => void said.push(line) });
  const open = (isAgain: boolean) => {
    const { http } = defaultConfig();
    const place = { store: { url, site: "barn" }, http: { ...http, port } };
    const options = { address: "http://127.0.0.1:1", files: join(folder, "rigbridge"), acceptRestored: false, isAgain };
    return openServiceStore(place, options, "1.2.3", log, new Shutdown());
  };
  await server.kill();
  await expect(open(false)).rejects.toThrow("cannot be reached: nothing listens at its address");
  const opening = open(true);
  await until(() => said.length > 0, "the service to wait");
  const health = await fetch(`http://127.0.0.1:${port}/health`);
  expect(await health.json()).toMatchObject({ status: "ok", role: "standby" });
  await server.start();
  const store = await opening;
  expect(store.lease).toMatchObject({ epoch: 1 });
  await store.close();
  expect(said.filter((line) => line.includes("The database of the store is away; this service waits"))).toHaveLength(1);
  expect(said.join()).not.toContain("secret");
});
