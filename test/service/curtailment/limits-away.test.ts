import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { openPostgresStore } from "../../../src/store/store.ts";
import { folders } from "../../store/folder.ts";
import { type Line, startLine } from "../../store/line.ts";
import { hasPostgres, type Postgres, startPostgres } from "../../store/postgres.ts";
import { caller, closeBenches } from "../bench.ts";
import { axeos, curtailmentBench } from "./curtailment-bench.ts";

// depends on: src/**, test/store/*.ts

const suite = hasPostgres("a limit of a place while the database is away") ? describe : describe.skip;
const folder = folders();
let server: Postgres;
const lines: Line[] = [];

suite("the limit of a place while the database is away", () => {
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterEach(async () => {
    await closeBenches();
    for (const line of lines.splice(0)) await line.close();
  });
  afterAll(() => server.stop());

  test("is held, and its curtailment is stored once the database is back", async () => {
    const line = await startLine(server);
    lines.push(line);
    const place = folder();
    const log = { info: () => undefined, warn: () => undefined };
    const url = line.urlOf(server.url(await server.database()));
    const beside = { folder: join(place, "samples"), commands: join(place, "commands"), log };
    const store = await openPostgresStore({
      url,
      now: Date.now,
      timeoutMs: 1_000,
      site: "home",
      address: null,
      beside,
    });
    const { service, ids, turn, settles, mining, start, get } = await curtailmentBench(
      [axeos, axeos, axeos],
      {},
      { store },
    );
    await turn(10);
    const site = { kind: "site", name: "Texas", parentId: null, order: 0, maxPower: 1_000 } as const;
    const { id: placeId } = await service.addPlace(site, caller);
    for (const id of ids) await service.changeMiner({ id, placeId }, caller);
    await service.changePlace({ id: placeId, maxPower: 30 }, caller);
    line.cut();
    await expect(start({ target: { all: true } })).rejects.toMatchObject({ code: "service.store-away" });
    await settles(async () => (await mining()).includes(false), "a stop");
    line.restore();
    const active = async () =>
      (await store.curtailments.list({ open: true, limit: 5 }).catch(() => [])).find(({ cause }) => cause === "limit");
    await settles(async () => (await active()) !== undefined, "the row");
    const { id = 0 } = (await active()) ?? {};
    await service.changePlace({ id: placeId, maxPower: null }, caller);
    await settles(async () => (await get(id)).state === "ended", "the end");
    expect(await mining()).toEqual([true, true, true]);
  });
});
