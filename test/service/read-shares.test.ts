import { afterEach, expect, test } from "@jest/globals";
import type { Caller } from "../../src/contract/service.ts";
import { refusal } from "../errors.ts";
import { caller, closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

test("a user who has read more than their share waits, whatever the request, and other users do not", async () => {
  let now = 0;
  const bench = await openBench({ monotonicNow: () => now });
  const { id } = await bench.service.addMiner({ address: "127.0.0.1:9" }, caller);
  const add = async (name: string) => {
    const user = { name, keyHash: null, privilege: "control", groups: null, pools: null } as const;
    return { actor: name, userId: (await bench.store.users.add(user)).id };
  };
  const [ann, bob] = [await add("ann"), await add("bob")];
  const dryRun = { action: "restart" as const, parameters: {}, miners: [id], parallel: 1, delay: 0, dryRun: true };
  const job = (await bench.service.startBulkAction(dryRun, ann)).id;
  const reads = {
    getHistory: (who: Caller = ann) => bench.service.getHistory({ id }, who),
    listCommands: (who: Caller = ann) => bench.service.listCommands({}, who),
    listBulkActions: (who: Caller = ann) => bench.service.listBulkActions({}, who),
    getBulkAction: (who: Caller = ann) => bench.service.getBulkAction({ id: job }, who),
    startBulkAction: (who: Caller = ann) => bench.service.startBulkAction(dryRun, who),
  };
  let histories = 0;
  while ((await refusal(reads.getHistory())) === "done") histories += 1;
  expect(histories).toBe(500);
  for (const [name, read] of Object.entries(reads)) {
    expect([name, await refusal(read())]).toEqual([name, "too.many"]);
    expect([name, await refusal(read(caller))]).toEqual([name, "done"]);
  }
  for (const read of [reads.getHistory, reads.listCommands, reads.listBulkActions])
    expect(await refusal(read(bob))).toBe("done");
  now = 1_000;
  expect(await refusal(reads.listCommands())).toBe("done");
});
