import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { pino } from "pino";
import { IdempotentCalls } from "../../src/service/idempotent-calls.ts";
import { Ledger } from "../../src/service/money/ledger.ts";
import { localTimeIn } from "../../src/service/money/local-time.ts";
import { openPostgresStore, type Store } from "../../src/store/index.ts";
import { refusal } from "../errors.ts";
import { onTestFinished } from "../finished.ts";
import { startRelay } from "../relay.ts";
import { until } from "../until.ts";
import { hasPostgres, type Postgres, startPostgres } from "./postgres.ts";

// depends on: src/store/**, src/service/money/**, src/service/idempotent-calls.ts, test/store/*.ts

const suite = hasPostgres("counters whose confirmation is lost") ? describe : describe.skip;
const start = Date.UTC(2026, 4, 1, 12);

let server: Postgres;
beforeAll(async () => {
  if (hasPostgres("counters whose confirmation is lost")) server = await startPostgres();
});
afterAll(() => server?.stop());

/** What the line to the database loses next: the answers to writes of a table, or the writes themselves. */
type Loses = { readonly table: string; readonly what: "answer" | "write" | "line" } | null;

async function openStoreBehind(): Promise<{
  readonly store: Store;
  lose(next: Loses): void;
  run(sql: string): Promise<unknown>;
  rows(of: string): Promise<number>;
}> {
  let loses: Loses = null;
  const relay = await startRelay(server, (client, behind) => {
    let isLost = false;
    client.on("data", (bytes: Buffer) => {
      if (loses !== null && bytes.includes(loses.table)) {
        isLost = true;
        if (loses.what === "write") return void client.destroy();
      }
      behind.write(bytes);
      if (isLost && loses?.what === "line") client.destroy();
    });
    behind.on("data", (bytes: Buffer) => {
      // The server has committed before it answers.
      if (isLost) client.destroy();
      else client.write(bytes);
    });
  });
  const database = await server.database();
  const url = server.url(database).replace(`${server.host}:${server.port}`, `127.0.0.1:${relay.port}`);
  const store = await openPostgresStore({ url, now: () => start, site: "home", address: null });
  onTestFinished(async () => {
    await store.close();
    await relay.close();
  });
  return {
    store,
    lose: (next) => {
      loses = next;
    },
    run: (sql) => server.run(`set search_path = rigbridge; ${sql}`, database),
    rows: async (of) => (await server.run(`select 1 from rigbridge.${of}`, database)).length,
  };
}

const where = (is: "exists" | "not exists", query: string): string => `where ${is} (${query})`;

suite("when a connection breaks off", () => {
  test.each(["answer", "write"] as const)(
    "and the %s of a batch of money is lost, each amount is added once",
    async (what) => {
      const { store, lose } = await openStoreBehind();
      const ledger = new Ledger({
        days: store.moneyDays,
        rates: { currency: "EUR" },
        localTime: localTimeIn("UTC"),
        now: () => start,
        log: pino({ level: "silent" }),
        settings: { history: { raw: 1, hourly: 730 } },
        tariffOf: () => ({ curve: null, at: () => ({ price: 0.25, until: Infinity }) }),
        btc: () => undefined,
      });
      onTestFinished(() => ledger.close());
      await ledger.start();
      const read = (minute: number) =>
        ledger.take(1, {
          at: start + minute * 60_000,
          energy: minute * 1_000,
          revenuePerDay: 1_440,
          revenueBtcPerDay: null,
          groupId: 0,
          coin: "BTC",
          algorithm: "sha256",
          readEveryMs: 10_000,
        });
      const shown = async () => {
        const sums = await ledger.sumsOf(new Set([1]), "2026-05-01");
        return [sums?.seconds, sums?.energy, sums?.revenue];
      };
      read(0);
      read(1);
      await ledger.save();
      expect(await shown()).toEqual([60, 1_000, 1]);
      read(2);
      lose({ table: "money_day", what });
      expect(await refusal(ledger.save())).toBe("service.store-away");
      // What is counted meanwhile is of no batch yet; the one in doubt is looked for in vain.
      read(3);
      lose({ table: "source_value", what: "write" });
      expect(await refusal(ledger.save())).toBe("service.store-away");
      lose(null);
      expect(await shown()).toEqual([180, 3_000, 3]);
      await ledger.save();
      expect(await shown()).toEqual([180, 3_000, 3]);
      expect((await store.moneyDays.costs("EUR")).get(1)).toBeCloseTo(0.75);
      read(4);
      await ledger.save();
      expect(await shown()).toEqual([240, 4_000, 4]);
    },
  );

  test.each([
    ["answer", "idempotency.unknown"],
    ["write", null],
  ] as const)("and the %s of a change with a key is lost, the change is made once", async (what, refused) => {
    const { store, lose, rows } = await openStoreBehind();
    const calls = new IdempotentCalls(store.idempotency);
    let replays = 0;
    const replayed = (): void => {
      replays += 1;
    };
    const ask = () =>
      calls.once("addGroup", { name: "attic" }, { actor: "Ann", idempotency: { key: "k", replayed } }, async () => {
        const { id } = await store.groups.add({ name: "attic", parentId: 0 });
        return { id };
      });
    lose({ table: "resource", what });
    expect(await refusal(ask())).toBe("service.store-away");
    lose(null);
    if (refused === null) expect(await ask()).toEqual({ id: 1 });
    else expect(await refusal(ask())).toBe(refused);
    expect(await rows("resource where collection = 'group'")).toBe(1);
    if (refused === null) expect(await ask()).toEqual({ id: 1 });
    expect(replays).toBe(1);
  });

  test("while a note with a key waits in the server, a repeat comes after it has ended there", async () => {
    const { store, lose, rows, run } = await openStoreBehind();
    const calls = new IdempotentCalls(store.idempotency);
    const locked = run("begin; lock table command in share mode; select pg_sleep(3600)").catch(() => undefined);
    const of = "from pg_locks where relation = 'rigbridge.command'::regclass";
    const isTrue = (sql: string) => async () => (await rows(sql)) > 0;
    await until(isTrue(`lease ${where("exists", `select ${of} and granted and mode = 'ShareLock'`)}`), "the lock");
    let unlock = async (): Promise<void> => undefined;
    const note = () =>
      calls.once("addMinerNote", { id: 1, note: "dusty" }, { actor: "Ann", idempotency: { key: "k" } }, async () => {
        await unlock();
        const by = { minerId: 1, minerName: "Rig", actor: "Ann", action: "note", parameters: {} };
        await store.commands.add({ ...by, done: "" });
        return { message: "Noted" };
      });
    lose({ table: "command", what: "line" });
    expect(await refusal(note())).toBe("service.store-away");
    lose(null);
    unlock = async () => {
      await run(`select pg_terminate_backend(pid, 10000) ${of} and mode = 'ShareLock'`);
      await locked;
      await until(isTrue(`lease ${where("not exists", `select ${of}`)}`), "the first write to end");
    };
    await note();
    expect(await rows("command")).toBe(1);
  });

  test("and the answer to a step of a run is lost, it is stored once when it is stored again", async () => {
    const { store, lose } = await openStoreBehind();
    const job = {
      actor: "Ann",
      userId: null,
      action: "stop",
      parameters: {},
      parallel: 1,
      delay: 0,
      dryRun: false,
      steps: [{}, {}],
    };
    const { id } = await store.runs.add(job, [{ minerId: 5, state: "queued", message: "" }]);
    const lost = async <T>(write: () => Promise<T>): Promise<T> => {
      lose({ table: "bulk_result", what: "answer" });
      expect(await refusal(write())).toBe("service.store-away");
      lose(null);
      return write();
    };
    expect(await lost(() => store.runs.claim(id, 5))).toBe(true);
    const result = { state: "done", message: "OK", commandId: null } as const;
    const turn = { minerId: 5, step: 0 };
    await lost(() => store.runs.next(id, turn, result, { state: "queued", message: "" }));
    expect(await store.runs.turns(id)).toMatchObject([{ step: 1, past: [result], state: "queued" }]);
  });
});
