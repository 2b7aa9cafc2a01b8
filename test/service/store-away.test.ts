import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { Client } from "pg";
import type { CommandSpec } from "../../src/service/commands/command-executor.ts";
import { type Step, setControl, switchMining } from "../../src/service/commands/steps.ts";
import { maximumActorFor } from "../../src/service/power/precedence.ts";
import type { Store, StoredCommand } from "../../src/store/index.ts";
import { openPostgresStore } from "../../src/store/store.ts";
import { onTestFinished } from "../finished.ts";
import { flushed } from "../store/flushed.ts";
import { folders } from "../store/folder.ts";
import { type Line, startLine } from "../store/line.ts";
import { hasPostgres, type Postgres, startPostgres } from "../store/postgres.ts";
import { until } from "../until.ts";
import type { BenchOptions } from "./bench.ts";
import { atWrite, axeos, closeAll, states, steered, withOne } from "./command-bench.ts";

// depends on: src/**, test/store/*.ts

const suite = hasPostgres("a service whose database breaks off") ? describe : describe.skip;

const folder = folders();
let server: Postgres;
const lines: Line[] = [];

const openOver = (url: string, place: string, timeoutMs = 1_000): Promise<Store> => {
  const log = { info: () => undefined, warn: () => undefined };
  const beside = { folder: join(place, "samples"), commands: join(place, "commands"), log };
  return openPostgresStore({ url, now: Date.now, timeoutMs, site: "home", address: null, beside });
};

/** A store in a database behind a line. */
async function behindLine(timeoutMs?: number) {
  const database = await server.database();
  const line = await startLine(server);
  lines.push(line);
  const place = folder();
  return { database, line, place, store: await openOver(line.urlOf(server.url(database)), place, timeoutMs) };
}

/** A service with one rig over such a store. */
async function withLine(options: BenchOptions = {}, timeoutMs?: number) {
  const { database, line, place, store } = await behindLine(timeoutMs);
  const one = await withOne(axeos, { ...options, store });
  const ended: StoredCommand["state"][] = [];
  store.commands.watchLate(({ state }) => ended.push(state));
  return { ...one, store, line, place, database, ended };
}

const endsAs = (one: Awaited<ReturnType<typeof withLine>>, expected: readonly string[]) =>
  until(
    async () => {
      const found = await states(one.bench, one.id).catch(() => null);
      return JSON.stringify(found) === JSON.stringify(expected);
    },
    `the commands to be ${expected.join(", ")}`,
  );

/** Commands as rules, rooms and people send them. */
const by = {
  rule: { actor: "rule:hot", cause: { kind: "rule", key: "hot", run: 1, safety: true } },
  schedule: { actor: "schedule:night", cause: { kind: "schedule", key: "night", run: 1 } },
  room: { actor: maximumActorFor("Den"), cause: null },
  person: { actor: "anna", cause: null },
} as const;
const spec = (who: keyof typeof by, action: string, parameters: CommandSpec["parameters"] = {}): CommandSpec => {
  const { cause } = by[who];
  return { minerId: 1, minerName: "one", action, parameters, ...(cause === null ? {} : { cause }) };
};

suite("while the database breaks off", () => {
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterEach(async () => {
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
    const one = await withLine({}, 5_000);
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

  test("a rig that overheats is stopped by its safety rule, which is stored afterwards; nothing else is sent", async () => {
    const hot = {
      key: "hot",
      name: "Too hot",
      safety: true,
      when: { all: [{ reading: "temperature", above: 68, clear: 66 }] },
      do: [{ action: "stop" }, { notify: "all", text: "hot" }],
      onClear: [{ action: "start" }],
    };
    const one = await withLine({ config: { rules: [hot] } });
    const { bench, id, rig, line, database, place, store } = one;
    const own = join(place, `commands-${store.instance}`);
    rig.model.temperature = 60;
    await bench.poll(id);
    line.cut();
    await until(() => store.lease?.mayAct() === false, "the lease to end");
    rig.model.temperature = 72;
    await bench.poll(id).catch(() => undefined);
    await until(() => !rig.model.mining, "the rig to be stopped");
    await until(() => readFileSync(own, "utf8").includes('"done"'), "the stop to be kept");
    expect(statSync(own).mode & 0o777).toBe(0o600);
    await expect(bench.act(id, { action: "reboot" })).rejects.toMatchObject({ code: "service.store-away" });
    expect(rig.requests.writes).toHaveLength(1);
    line.restore();
    await endsAs(one, ["stop done"]);
    await until(() => !existsSync(own), "the file to be removed");
    const rows = await server.run("select actor, action, state, cause from rigbridge.command", database);
    expect(rows).toMatchObject([{ actor: "rule:hot", action: "stop", state: "done" }]);
    expect(JSON.parse(String(rows[0]?.cause))).toMatchObject({ kind: "rule", key: "hot", safety: true });
  });

  test("nothing is sent but what lowers the power for safety", async () => {
    const { line, store, database } = await behindLine();
    const timeouts = { requestMs: 60_000, answerMs: 60_000, changeMs: 60_000 };
    const { rig, miner, executor, poll } = await steered(timeouts, 3_600_000, axeos, 1_000, store);
    await poll();
    const send = async (who: keyof typeof by, action: string, parameters: CommandSpec["parameters"], step: Step) => {
      const { actor } = by[who];
      const row = await executor.enqueue(spec(who, action, parameters), { actor });
      const { taken, ended } = executor.send(miner, row, [step]);
      await Promise.allSettled([taken, ended]);
    };
    const set = { property: "power_target", value: "0" };
    await send("person", "set", { property: "frequency", value: "490" }, setControl("frequency", "490"));
    line.cut();
    await until(() => store.lease?.mayAct() === false, "the lease to end");
    const before = rig.requests.writes.length;
    const start = setControl("mining", "true");
    for (const refused of [
      send("person", "stop", {}, switchMining(false)),
      send("schedule", "start", {}, start),
      send("schedule", "stop", {}, switchMining(false)),
      send("rule", "start", {}, start),
      send("rule", "reboot", {}, setControl("reboot", "true")),
    ])
      await expect(refused).rejects.toMatchObject({ code: "service.store-away" });
    // These say that they lower the power, and do not.
    await send("rule", "stop", {}, start);
    await send("room", "set", set, setControl("frequency", "480"));
    await send("room", "set", set, setControl("reboot", "true"));
    expect(rig.requests.writes).toHaveLength(before);
    await send("rule", "stop", {}, switchMining(false));
    expect(rig.model.mining).toBe(false);
    line.restore();
    await flushed(store, "the commands to be stored");
    const rows = await server.run("select action, state from rigbridge.command order by id", database);
    expect(rows.map(({ action, state }) => `${action} ${state}`)).toEqual([
      ...["set done", "stop failed", "set failed", "set failed", "stop done"],
    ]);
  });

  test("nothing is sent of a command whose row the server has no room for", async () => {
    const one = await withLine();
    const { bench, id, rig, database } = one;
    await server.run(
      `create function rigbridge.no_room() returns trigger language plpgsql as $$
          begin raise exception 'full' using errcode = '53100'; end $$;
        create trigger no_room before update on rigbridge.command for each row execute function rigbridge.no_room()`,
      database,
    );
    await expect(bench.act(id, { action: "stop" })).rejects.toMatchObject({ code: "store.full" });
    expect(rig.requests.writes).toEqual([]);
    await server.run("drop trigger no_room on rigbridge.command", database);
    await endsAs(one, ["stop failed"]);
    await bench.act(id, { action: "stop" });
    expect(rig.model.mining).toBe(false);
  });

  test("a command of which one step was sent is unknown, and does not say that it was not sent", async () => {
    const { line, store } = await behindLine();
    const timeouts = { requestMs: 60_000, answerMs: 60_000, changeMs: 60_000 };
    const { rig, miner, executor, poll } = await steered(timeouts, 3_600_000, axeos, 1_000, store);
    await poll();
    const row = await executor.enqueue(spec("person", "set"), { actor: "anna" });
    atWrite(rig, () => line.cut());
    const { taken, ended } = executor.send(miner, row, [
      setControl("frequency", "490"),
      setControl("frequency", "480"),
    ]);
    await Promise.allSettled([taken, ended]);
    expect(rig.requests.writes).toHaveLength(1);
    line.restore();
    const command = async () => (await store.commands.list().catch(() => []))[0];
    await until(async () => {
      await store.flush().catch(() => undefined);
      return (await command())?.state === "unknown";
    }, "its end");
    expect((await command())?.message).toMatch(/^It was sent in part: /);
  });

  test("a stop for safety is in the log even if the service is killed before the database is back", async () => {
    const { line, store, place, database } = await behindLine();
    line.cut();
    const row = { ...spec("rule", "stop"), actor: "rule:hot" };
    const stopped = await store.commands.add(row, undefined, true);
    await store.commands.move(stopped.id, "sent", "");
    await store.commands.move(stopped.id, "done", "stopped");
    const sent = await store.commands.add({ ...row, minerId: 2 }, undefined, true);
    await store.commands.move(sent.id, "sent", "");
    const own = join(place, `commands-${store.instance}`);
    const kept = readFileSync(own);
    const states = async (next: Store) => (await next.commands.list()).map(({ minerId, state }) => [minerId, state]);
    // Once more with the same file, as if it had ended before it could remove that.
    for (const round of [1, 2]) {
      writeFileSync(own, kept);
      const next = await openOver(server.url(database), place);
      expect([round, await states(next)]).toEqual([
        round,
        [
          [2, "unknown"],
          [1, "done"],
        ],
      ]);
      expect(existsSync(own)).toBe(false);
      await next.close();
    }
    line.restore();
    await store.close().catch(() => undefined);
  });
});
