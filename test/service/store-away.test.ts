import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { Client } from "pg";
import type { StoredCommand } from "../../src/store/index.ts";
import { openPostgresStore } from "../../src/store/store.ts";
import { onTestFinished } from "../finished.ts";
import { type Line, startLine } from "../store/line.ts";
import { hasPostgres, type Postgres, startPostgres } from "../store/postgres.ts";
import { until } from "../until.ts";
import type { BenchOptions } from "./bench.ts";
import { atWrite, axeos, closeAll, states, withOne } from "./command-bench.ts";

// depends on: src/**, test/store/*.ts

const suite = hasPostgres("a service whose database breaks off") ? describe : describe.skip;

let server: Postgres;
const lines: Line[] = [];

/** A service with one rig, whose store is in a database behind a line. */
async function withLine(options: BenchOptions = {}) {
  const database = await server.database();
  const line = await startLine(server);
  lines.push(line);
  const url = line.urlOf(server.url(database));
  const store = await openPostgresStore({ url, now: Date.now, timeoutMs: 5_000, site: "home", address: null });
  const one = await withOne(axeos, { ...options, store });
  const ended: StoredCommand["state"][] = [];
  store.commands.watchLate(({ state }) => ended.push(state));
  return { ...one, store, line, database, ended };
}

const endsAs = (one: Awaited<ReturnType<typeof withLine>>, expected: readonly string[]) =>
  until(
    async () => {
      const found = await states(one.bench, one.id).catch(() => null);
      return JSON.stringify(found) === JSON.stringify(expected);
    },
    `the commands to be ${expected.join(", ")}`,
  );

suite("while the database breaks off", () => {
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterEach(async () => {
    for (const line of lines) line.restore();
    await closeAll();
    for (const line of lines.splice(0)) await line.close();
  });
  afterAll(() => server.stop());

  test("a command that was sent ends as it did, once the database is back", async () => {
    const one = await withLine();
    const { bench, id, rig, line, ended } = one;
    const isCut = atWrite(rig, () => line.cut());
    await expect(bench.act(id, { action: "stop" })).rejects.toMatchObject({
      code: "rig.unconfirmed",
      message: /^The command was sent, but its result could not be stored: /,
    });
    isCut();
    expect(rig.model.mining).toBe(false);
    line.restore();
    await endsAs(one, ["stop done"]);
    await until(() => ended.length > 0, "the end to be written");
    expect(ended).toEqual(["done"]);
  });

  test("a restart under way is still confirmed", async () => {
    const one = await withLine();
    const { bench, id, rig, line } = one;
    atWrite(rig, () => line.cut());
    await bench.act(id, { action: "reboot" });
    line.restore();
    await endsAs(one, ["reboot done"]);
  });

  test("a new command is refused and not sent, and does not stay queued if it was stored", async () => {
    const one = await withLine();
    const { bench, id, rig, line, database, store } = one;
    const waiting = () => server.run("select 1 from pg_stat_activity where wait_event_type = 'Lock'", database);
    const other = new Client({ connectionString: server.url(database) });
    await other.connect();
    onTestFinished(() => other.end());
    await other.query("begin; lock table rigbridge.command");
    const refused = expect(bench.act(id, { action: "stop" })).rejects.toMatchObject({ code: "service.store-away" });
    await until(async () => (await waiting()).length > 0, "the command to wait for the lock");
    // The server stores it, and cannot say so.
    line.cut();
    await other.query("commit");
    await refused;
    const stored = () => server.run("select state from rigbridge.command", database);
    await until(async () => (await stored()).length > 0, "the command to be stored");
    expect(await stored()).toEqual([{ state: "queued" }]);
    await expect(bench.act(id, { action: "stop" })).rejects.toMatchObject({ code: "service.store-away" });
    line.restore();
    await endsAs(one, ["stop failed"]);
    expect((await bench.commands(id))[0]?.message).toBe("the store could not be reached, so it was not sent");
    expect(rig.requests.writes).toEqual([]);
    await until(() => store.lease?.mayAct() === true, "the lease to be renewed");
    await bench.act(id, { action: "stop" });
    expect(rig.model.mining).toBe(false);
  });
});
