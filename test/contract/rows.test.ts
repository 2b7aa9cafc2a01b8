import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { minersIn } from "../../src/contract/miners-in.ts";
import { operations } from "../../src/contract/operations.ts";
import type { MinerRow } from "../../src/contract/rows.ts";
import type { Input } from "../../src/contract/service.ts";
import { refusal } from "../errors.ts";
import { until } from "../until.ts";
import { caller, kinds, type Opened } from "./kinds.ts";

describe.each(kinds)("$name", ({ isReference, open }) => {
  let kind: Opened;
  beforeAll(async () => {
    kind = await open();
  });
  afterAll(() => kind.close());

  const list = async (input: object = {}) =>
    operations.listMinerRows.reply.parse(await kind.service.listMinerRows({ view: "list", ...input }, caller));

  test("lists its miners as rows, which show what the miners show", async () => {
    const { whole, miners, removed } = await list({ fields: ["model"] });
    expect([whole, removed]).toEqual([true, []]);
    const all = minersIn((await kind.service.listMiners({}, caller)).groupList);
    const shown = (rows: readonly MinerRow[]) => rows.map(({ id, name, status, model }) => [id, name, status, model]);
    expect(shown(miners).toSorted()).toEqual(
      all
        .map(({ id, name, statusInfo, hardware }) => [id, name, statusInfo.statusDisplay, hardware || null])
        .toSorted(),
    );
    expect(miners.every(({ alarms }) => (alarms === null) === isReference)).toBe(true);
  });

  test("filters them, and refuses a group that there is not", async () => {
    const all = (await list()).miners;
    const inGroup = all.filter(({ group }) => group === kind.anna.groupId);
    expect(inGroup.length).toBeGreaterThan(0);
    const ids = (rows: readonly MinerRow[]) => rows.map(({ id }) => id).toSorted();
    const inside = ids((await list({ group: kind.anna.groupId })).miners);
    expect(inside).toEqual(expect.arrayContaining(ids(inGroup)));
    expect(inside.length).toBeLessThan(all.length);
    expect(ids((await list({ status: ["Mining"] })).miners)).toEqual(
      ids(all.filter(({ status }) => status === "Mining")),
    );
    expect((await list({ tag: "none" })).miners).toEqual([]);
    expect(await refusal(list({ group: "Cellar" }))).toBe("input.invalid group");
  });

  test("answers a version with what has changed, or with the whole list if it does not keep versions", async () => {
    const { version, miners: before } = await list();
    const { whole, miners } = await list({ since: version });
    expect(whole).toBe(isReference);
    if (isReference) expect(miners.length).toBeGreaterThan(0);
    // Rigs are read every second, so a row may have changed meanwhile.
    else for (const row of miners) expect(before).not.toContainEqual(row);
    expect((await list({ since: "an old one" })).whole).toBe(true);
  });

  test("sends the rows that change after a list, and only the types that were asked for", async () => {
    const { version, miners } = await list();
    const known = new Map(miners.map((row) => [row.id, row]));
    const over = new AbortController();
    const others: string[] = [];
    const input: Input<"watchMinerRows"> = { view: "list", after: version, types: ["miner"] };
    const running = (async () => {
      for await (const event of kind.service.watchMinerRows(input, caller, over.signal)) {
        const { type, data } = operations.watchMinerRows.reply.parse(event);
        if (type === "miner") known.set(data.id, data);
        else others.push(type);
      }
    })();
    const { steered } = kind;
    await kind.service.minerAction({ id: steered, action: "stop" }, caller);
    kind.pass(60);
    await until(() => known.get(steered)?.status === "Stopped", "the row of the miner that was stopped");
    await kind.service.minerAction({ id: steered, action: "start" }, caller);
    kind.pass(600);
    await until(() => known.get(steered)?.status !== "Stopped", "the row of the miner that was started");
    over.abort();
    await running;
    expect(others).toEqual([]);
  });

  test("resets a watcher that comes with the version of another service", async () => {
    const over = new AbortController();
    const input = { view: "list", after: "abc.1.2" } as const;
    const types: string[] = [];
    for await (const { type } of kind.service.watchMinerRows(input, caller, over.signal)) {
      types.push(type);
      break;
    }
    over.abort();
    expect(types).toEqual(["reset"]);
  });
});
