import { afterEach, describe, expect, test } from "@jest/globals";
import { RigbridgeError } from "../../src/contract/problems.ts";
import type { Caller, Input, Reply } from "../../src/contract/service.ts";
import type { RigSpec, SimulatedRig } from "../../src/simulator/index.ts";
import { openStore } from "../any-store.ts";
import { problem, refusal } from "../errors.ts";
import { until } from "../until.ts";
import { type Bench, caller, closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

const token = "token-of-the-rig";
const axeos: RigSpec = { kind: "axeos", warm: true, restartSeconds: 0 };
const cgminer: RigSpec = { kind: "cgminer", warm: true, restartSeconds: 0 };
const xmrig: RigSpec = { kind: "xmrig", warm: true, token, restricted: false };
const slow = { name: "delay", ms: 30 } as const;
/** So slow that a test that has seen a command come can do something before it is answered. */
const verySlow = { name: "delay", ms: 200 } as const;

type Asked = Partial<Input<"startBulkAction">>;

const bulk = (bench: Bench, asked: Asked, who: Caller = caller) =>
  bench.service.startBulkAction(
    { action: "restart", parameters: {}, parallel: 16, delay: 0, dryRun: false, ...asked },
    who,
  );

const look = (bench: Bench, id: number, who: Caller = caller) => bench.service.getBulkAction({ id }, who);

/** Waits for the end of a job, and until nothing of it is under way. */
async function ended(bench: Bench, { id }: { readonly id: number }): Promise<Reply<"getBulkAction">> {
  const isOver = ({ state, results }: Reply<"getBulkAction">) =>
    state !== "running" && results.every((result) => result.state !== "sent");
  await until(async () => isOver(await look(bench, id)), "the job to end");
  return look(bench, id);
}

/** What two jobs may ask of one rig at once: of a rig that has only just restarted, a second restart does not show. */
const twice = { action: "locate", parameters: { on: true } } as const;

const states = ({ results }: Reply<"getBulkAction">) => results.map(({ state }) => state);

/** Benches of so many rigs, each a miner that was read once. */
async function withRigs(
  rigs: readonly RigSpec[],
  config: Record<string, unknown> = {},
): Promise<{ bench: Bench; ids: number[] }> {
  const bench = await openBench({ rigs, config });
  const ids: number[] = [];
  for (const { address, kind } of bench.farm.rigs)
    ids.push(await bench.add(address, { driver: kind, ...(kind === "xmrig" ? { token } : {}) }));
  return { bench, ids };
}

const many = (count: number, spec: RigSpec): RigSpec[] => Array<RigSpec>(count).fill(spec);

/** How many rigs are between their first request from now on and their first write, at the same time. */
function rigsAtOnce(rigs: readonly SimulatedRig[]): () => number {
  const asked = new Set<SimulatedRig>();
  let most = 0;
  for (const rig of rigs) {
    const serve = rig.serve.bind(rig);
    rig.serve = (socket) => {
      if (rig.requests.writes.length === 0) asked.add(rig);
      most = Math.max(most, asked.size);
      serve(socket);
    };
    const { writes } = rig.requests;
    writes.push = (...items) => {
      asked.delete(rig);
      return Array.prototype.push.apply(writes, items);
    };
  }
  return () => most;
}

describe("a bulk action that changes a setting", () => {
  const former = ({ results }: Reply<"getBulkAction">) => results.map((result) => result.before);

  test("says what each rig had before, also after a restart of the service", async () => {
    const { bench, ids } = await withRigs([axeos, axeos, cgminer]);
    await bench.act(ids[1] ?? 0, { action: "set", property: "fan", value: "60" });
    const [first = 0] = ids;
    const value = (await bench.get(first)).controls.find(({ key }) => key === "fan")?.value;
    const job = await bulk(bench, { action: "set", parameters: { property: "fan", value: 70 }, miners: ids });
    // The last has no such control.
    expect(former(await ended(bench, job))).toEqual([String(value), "60", null]);
    await bench.restart();
    expect(former(await look(bench, job.id))).toEqual([String(value), "60", null]);
  });

  test("names a former pool only if it is a defined one, with the same worker", async () => {
    const pool = (name: string, worker: string) => ({ name, url: `stratum+tcp://${name}.example.com:3333`, worker });
    const { bench, ids } = await withRigs([axeos], { pools: [pool("one", "a.b"), pool("two", "a.b")] });
    const change = async (id: number) =>
      former(
        await ended(
          bench,
          await bulk(bench, { action: "change_pool", parameters: { pool_id: id, pool_type: "single" }, miners: ids }),
        ),
      );
    expect([await change(1), await change(2)]).toEqual([[null], ["single 1"]]);
  });

  test("does not say it of what cannot be undone", async () => {
    const { bench, ids } = await withRigs([axeos]);
    expect(former(await ended(bench, await bulk(bench, { action: "reboot", miners: ids })))).toEqual([null]);
  });
});

describe("a bulk action", () => {
  test("takes groups by id, by name, and by the way to them, each miner once", async () => {
    const { bench, ids } = await withRigs(many(3, cgminer));
    const { service } = bench;
    const hall = (await service.addGroup({ name: "Hall", parentId: 0 }, caller)).id;
    const row = (await service.addGroup({ name: "Row", parentId: hall }, caller)).id;
    for (const [index, group] of [hall, row, 0].entries())
      await service.changeMiner({ id: ids[index] ?? 0, group }, caller);
    const told = async (groups: (number | string)[]) =>
      (await ended(bench, await bulk(bench, { groups, dryRun: true }))).results.map(({ minerId }) => minerId);
    expect(await told(["Hall"])).toEqual([ids[0], ids[1]]);
    expect(await told(["Hall / Row", row, "Row"])).toEqual([ids[1]]);
    expect(await told([0, "Row"])).toEqual([ids[2], ids[1]]);
    expect(await problem(bulk(bench, { groups: ["Row", "Roof", 99] }))).toMatchObject({
      code: "input.invalid",
      errors: [
        { path: "groups[1]", message: "there is no group Roof" },
        { path: "groups[2]", message: "there is no group 99" },
      ],
    });
  });

  test("restarts with orReboot what can be restarted, and reboots the rest", async () => {
    const bench = await openBench({ rigs: [cgminer, { kind: "antminer", warm: true, restartSeconds: 0 }] });
    const restarted = await bench.add(bench.rig(0).address);
    const rebooted = await bench.add(bench.rig(1).address, { username: "root", password: "root" });
    const ids = [restarted, rebooted];
    const can = async (id: number) => (await bench.get(id)).controls.map(({ key }) => key);
    expect(await can(restarted)).toContain("restart");
    expect(await can(rebooted)).not.toContain("restart");
    expect(states(await ended(bench, await bulk(bench, { miners: ids, dryRun: true })))).toEqual([
      "possible",
      "failed",
    ]);
    const job = await bulk(bench, { miners: ids, orReboot: true });
    await ended(bench, job);
    const [newest] = await bench.service.listBulkActions({}, caller);
    expect(newest).toMatchObject({ id: job.id, parameters: { orReboot: true } });
    expect(bench.rig(0).requests.writes.join()).toMatch(/restart/);
    expect(bench.rig(1).requests.writes).toHaveLength(1);
    expect(await refusal(bulk(bench, { action: "stop", miners: ids, orReboot: true }))).toBe("input.invalid orReboot");
  });

  test("sends to each of 40 rigs once, four at a time, and shows each answer", async () => {
    const { bench, ids } = await withRigs(many(40, cgminer));
    for (const rig of bench.farm.rigs) rig.fault = slow;
    const most = rigsAtOnce(bench.farm.rigs);
    const job = await bulk(bench, { miners: ids, parallel: 4 });
    expect(await look(bench, job.id)).toMatchObject({ state: "running", total: 40, action: "restart", dryRun: false });
    const over = await ended(bench, job);
    expect(over).toMatchObject({ id: job.id, state: "done", total: 40, done: 40, failed: 0 });
    expect(over.results.map(({ minerId }) => minerId)).toEqual(ids);
    expect(new Set(over.results.map(({ message }) => message))).toEqual(new Set(["RESTART"]));
    expect(bench.farm.rigs.map(({ requests }) => requests.writes.join())).toEqual(Array(40).fill("restart"));
    expect(most()).toBe(4);
    const { commandList } = await bench.service.listCommands({ actor: caller.actor }, caller);
    expect(commandList.map(({ action, state }) => `${action} ${state}`)).toEqual(Array(40).fill("restart done"));
  });

  test("shows why rigs failed that are off or cannot do it, and does not delay the others", async () => {
    const { bench, ids } = await withRigs([axeos, axeos, cgminer, axeos], { poll: { interval: 3600, timeout: 5 } });
    bench.rig(1).fault = "off";
    bench.rig(3).fault = "silent";
    const over = await ended(bench, await bulk(bench, { action: "stop", miners: ids, parallel: 2 }));
    expect(over).toMatchObject({ state: "done", done: 1, failed: 3 });
    expect(states(over)).toEqual(["done", "failed", "failed", "failed"]);
    expect(over.results[1]?.message).toMatch(/refused|reach/);
    expect(over.results[2]?.message).toContain('no control "mining"');
    expect(over.results[3]?.message).not.toBe("");
    expect(bench.rig(0).model.mining).toBe(false);
  });

  test("waits its turn behind other commands to a rig", async () => {
    const { bench, ids } = await withRigs([axeos]);
    const [id = 0] = ids;
    const first = bench.act(id, { action: "set", property: "frequency", value: "490" });
    const job = await bulk(bench, {
      action: "set",
      parameters: { property: "frequency", value: 510 },
      all: true,
    });
    await first;
    await ended(bench, job);
    expect(bench.rig(0).requests.writes.map((write) => write.replace(/\D+/g, ""))).toEqual(["490", "510"]);
    expect((await bench.commands(id))[0]).toMatchObject({ parameters: { property: "frequency", value: "510" } });
  });

  test("that is cancelled sends nothing to the rest; commands under way end with their results", async () => {
    const { bench, ids } = await withRigs(many(4, axeos));
    for (const rig of bench.farm.rigs) rig.fault = verySlow;
    const job = await bulk(bench, { miners: ids, parallel: 1 });
    await until(() => bench.rig(0).requests.writes.length > 0, "the first rig to be told to restart");
    const said = await bench.service.cancelBulkAction({ id: job.id }, caller);
    expect(said).toMatchObject({ success: true, message: expect.stringContaining("3 of its miners") });
    expect(await look(bench, job.id)).toMatchObject({ state: "cancelled" });
    const over = await ended(bench, job);
    expect(states(over)).toEqual(["done", "cancelled", "cancelled", "cancelled"]);
    expect(over).toMatchObject({ done: 1, failed: 0 });
    expect(bench.farm.rigs.map(({ requests }) => requests.writes.length)).toEqual([1, 0, 0, 0]);
    expect(await refusal(bench.service.cancelBulkAction({ id: job.id }, caller))).toBe("not.possible");
    expect(await refusal(bench.service.cancelBulkAction({ id: 99 }, caller))).toBe("not.found");
  });

  test("does not wait with the next rig until one has restarted", async () => {
    const { bench, ids } = await withRigs(many(2, { ...axeos, restartSeconds: 3600 }));
    const job = await bulk(bench, { miners: ids, parallel: 1 });
    await until(() => bench.rig(1).requests.writes.length > 0, "the second rig to be told to restart");
    expect(states(await look(bench, job.id))).toEqual(["sent", "sent"]);
  });

  test("reaches demo miners too", async () => {
    const farm = await openBench({ rigs: [cgminer] });
    const bench = await openBench({ demo: [{ address: farm.rig(0).address, name: "demo" }] });
    const over = await ended(bench, await bulk(bench, { all: true }));
    expect(over).toMatchObject({ done: 1, results: [{ minerId: 1_900_000_001, message: "RESTART" }] });
  });

  test("is one of 20 at most", async () => {
    const { bench, ids } = await withRigs([axeos, axeos]);
    const asked = { miners: ids, parallel: 1, delay: 3600 };
    const answers = await Promise.all(Array.from({ length: 25 }, () => refusal(bulk(bench, asked))));
    expect(answers).toEqual([...Array(20).fill("done"), ...Array(5).fill("too.many")]);
    await bulk(bench, { miners: ids, dryRun: true });
    await bench.service.cancelBulkAction({ id: 1 }, caller);
    await until(async () => (await refusal(bulk(bench, { miners: ids }))) === "done", "another job to be taken");
  });

  test("is one of 5 of its user, and of 16 of all users, so that the owner's stop starts", async () => {
    const { bench, ids } = await withRigs([axeos, axeos]);
    const asked = { miners: ids, parallel: 1, delay: 3600 };
    const users = await Promise.all(
      ["ann", "bob", "cid", "dan"].map(async (name) => {
        const user = { name, keyHash: null, privilege: "control", groups: null, pools: null } as const;
        return { actor: name, userId: (await bench.store.users.add(user)).id };
      }),
    );
    const start = (who: Caller) => refusal(bulk(bench, asked, who));
    for (const [index, user] of users.entries()) {
      const taken = index < 3 ? 5 : 1;
      const answers = await Promise.all(Array.from({ length: 20 }, () => start(user)));
      expect(answers).toEqual([...Array(taken).fill("done"), ...Array(20 - taken).fill("too.many")]);
    }
    const owners = [await start(caller), await start(caller), await start(caller), await start(caller)];
    expect([...owners, await start(caller)]).toEqual([...Array(4).fill("done"), "too.many"]);
    expect((await problem(bulk(bench, asked, users[0]))).message).toContain("20 bulk actions are running");
    await bench.service.cancelBulkAction({ id: 1 }, users[0] ?? caller);
    await until(async () => (await start(users[3] ?? caller)) === "done", "the place of the cancelled job");
    expect((await problem(bulk(bench, asked, users[1]))).message).toMatch(
      /cancel one \(GET \/api\/actions lists them\)/,
    );
  });
});

describe("whom it is for:", () => {
  /** Groups `outer` with `inner` in it, and a miner in each and in none. */
  async function grouped() {
    const { bench, ids } = await withRigs(many(3, axeos));
    const [inOuter = 0, inInner = 0, inNone = 0] = ids;
    const outer = await bench.service.addGroup({ name: "outer", parentId: 0 }, caller);
    const inner = await bench.service.addGroup({ name: "inner", parentId: outer.id }, caller);
    await bench.service.changeMiner({ id: inOuter, group: outer.id }, caller);
    await bench.service.changeMiner({ id: inInner, group: inner.id }, caller);
    const user = async (name: string, groups: number[] | null, privilege: "control" | "view" = "control") => {
      const { id } = await bench.store.users.add({ name, keyHash: null, privilege, groups, pools: null });
      return { actor: name, userId: id };
    };
    return { bench, inOuter, inInner, inNone, outer: outer.id, inner: inner.id, user };
  }

  const judged = async (bench: Bench, asked: Asked, who: Caller = caller) => {
    const { id } = await bulk(bench, { dryRun: true, ...asked }, who);
    return (await look(bench, id)).results.map(({ minerId }) => minerId).sort();
  };

  test("groups with those inside them, 0 for the miners in none, all, and no miner twice", async () => {
    const { bench, inOuter, inInner, inNone, outer, inner } = await grouped();
    expect(await judged(bench, { groups: [outer] })).toEqual([inOuter, inInner]);
    expect(await judged(bench, { groups: [inner, outer, inner] })).toEqual([inOuter, inInner]);
    expect(await judged(bench, { groups: [0] })).toEqual([inNone]);
    expect(await judged(bench, { all: true })).toEqual([inOuter, inInner, inNone]);
    expect(await judged(bench, { miners: [inNone, inNone] })).toEqual([inNone]);
  });

  test("all are all that the user sees, and the others are not there", async () => {
    const { bench, inInner, inNone, outer, inner, user } = await grouped();
    const ann = await user("ann", [inner]);
    expect(await judged(bench, { all: true }, ann)).toEqual([inInner]);
    expect(await judged(bench, { groups: [inner] }, ann)).toEqual([inInner]);
    expect(await refusal(bulk(bench, { miners: [inInner, inNone] }, ann))).toBe("input.invalid miners[1]");
    expect(await refusal(bulk(bench, { groups: [outer, 0, inner] }, ann))).toBe("input.invalid groups[0] groups[1]");
    expect(await refusal(bulk(bench, { all: true }, await user("eve", [inner], "view")))).toBe("user.forbidden");
    const nobody = { actor: "nobody", userId: 99 };
    expect(await refusal(bulk(bench, { all: true }, nobody))).toBe("not.found");
  });

  test("a job is visible to its user, and to callers with access to everything", async () => {
    const { bench, inner, user } = await grouped();
    const ann = await user("ann", [inner]);
    const bob = await user("bob", [inner]);
    const { id } = await bulk(bench, { all: true, dryRun: true }, ann);
    expect(await look(bench, id, ann)).toMatchObject({ id, total: 1 });
    expect(await look(bench, id, await user("cid", null))).toMatchObject({ id });
    const listed = async (who: Caller) => (await bench.service.listBulkActions({}, who)).map((job) => job.id);
    expect([await listed(ann), await listed(bob), await listed(caller)]).toEqual([[id], [], [id]]);
    const { id: newer } = await bulk(bench, { all: true, dryRun: true });
    expect([await listed(ann), await listed(caller)]).toEqual([[id], [newer, id]]);
    const [job] = await bench.service.listBulkActions({}, ann);
    const { results, preview, ...same } = await look(bench, id, ann);
    expect(preview).not.toBeNull();
    expect(job).toEqual(same);
    expect(job).toMatchObject({ actor: "ann", total: 1, dryRun: true, state: "done" });
    expect(await refusal(look(bench, id, bob))).toBe("not.found");
    expect(await refusal(bench.service.cancelBulkAction({ id }, bob))).toBe("not.found");
    expect(await refusal(look(bench, 99))).toBe("not.found");
  });

  test("a user who was removed, or may now only view, sends nothing more", async () => {
    const { bench, user } = await grouped();
    for (const rig of bench.farm.rigs) rig.fault = verySlow;
    const ann = await user("ann", null);
    const bob = await user("bob", null);
    const asked = { ...twice, all: true, parallel: 1 } as const;
    const jobs = [await bulk(bench, asked, ann), await bulk(bench, asked, bob)];
    await until(() => bench.rig(0).requests.writes.length > 0, "the first rig to be told");
    await bench.store.users.remove(ann.userId);
    await bench.store.users.change(bob.userId, { privilege: "view" });
    const [gone, demoted] = await Promise.all(jobs.map((job) => ended(bench, job)));
    expect(gone).toMatchObject({ state: "cancelled" });
    expect(gone?.results.at(-1)).toMatchObject({ state: "cancelled", message: expect.stringContaining("no user") });
    expect(demoted?.results.at(-1)).toMatchObject({
      state: "cancelled",
      message: expect.stringContaining("only view"),
    });
  });

  test("a miner that the configuration file no longer declares fails alone", async () => {
    const bench = await openBench({ rigs: [axeos, axeos] });
    const declared = (...rigs: number[]) => ({ miners: rigs.map((index) => ({ address: bench.rig(index).address })) });
    await bench.restart(declared(0, 1));
    await bench.restart(declared(1));
    const miners = [1_000_000_001, 1_000_000_002];
    const over = await ended(bench, await bulk(bench, { miners }));
    expect(over.results).toMatchObject([{ state: "failed", message: "This miner is disabled" }, { state: "done" }]);
  });
});

describe("bad input", () => {
  test("is answered with all mistakes at once, and nothing is stored", async () => {
    const { bench, ids } = await withRigs([axeos]);
    const bad = bulk(bench, {
      action: "set_power_limit",
      parameters: { watts: -5, volts: 12, action: "reboot" },
      miners: [...ids, 7, 8],
    });
    const { code, errors } = await problem(bad);
    expect([code, ...errors.map(({ path }) => path)]).toEqual([
      "input.invalid",
      "parameters.watts",
      "parameters.volts",
      "parameters.action",
      "miners[1]",
      "miners[2]",
    ]);
    expect(errors.at(-1)?.message).toBe("there is no miner 8");
    expect(await refusal(bulk(bench, { action: "add_pool", all: true }))).toBe(
      "input.invalid parameters.pool_id parameters.pool_type",
    );
    expect(await refusal(bulk(bench, { groups: [5] }))).toBe("input.invalid groups[0]");
    expect(await refusal(look(bench, 1))).toBe("not.found");
  });

  test("does not name a hundred thousand miners", async () => {
    const { bench } = await withRigs([]);
    const { errors } = await problem(bulk(bench, { miners: Array.from({ length: 100_000 }, (_, id) => id) }));
    expect(errors).toHaveLength(21);
    expect(errors.at(-1)).toMatchObject({ path: "", message: "and 99,980 more" });
    expect(await refusal(bulk(bench, { all: true }))).toBe("input.invalid all");
    expect(await refusal(bulk(bench, { groups: [0] }))).toBe("input.invalid groups");
  });

  test("what is not there, or has only a name, is refused as for one miner, and nothing is kept", async () => {
    const bench = await openBench({
      rigs: [axeos],
      config: { templates: [{ name: "Night" }], rules: [{ name: "Restart all" }] },
    });
    await bench.add(bench.rig(0).address);
    const asked = (action: Input<"startBulkAction">["action"], parameters: Input<"startBulkAction">["parameters"]) =>
      refusal(bulk(bench, { action, parameters, all: true }));
    expect(await asked("add_pool", { pool_id: 9, pool_type: "single" })).toBe("not.found");
    expect(await asked("change_pool", { pool_id: "9", pool_type: "group" })).toBe("not.found");
    expect(await asked("apply_template", { template_id: 9 })).toBe("not.found");
    expect(await asked("apply_template", { template_id: 1 })).toBe("nothing.to.do");
    expect(await asked("rule", { rule_id: 1 })).toBe("nothing.to.do");
    expect(await refusal(look(bench, 1))).toBe("not.found");
  });
});

describe("a dry run", () => {
  const farm: RigSpec[] = [axeos, axeos, cgminer, { ...cgminer, privileged: false }, xmrig, axeos];

  /** One of each, the second stopped, the last off. */
  async function mixed() {
    const { bench, ids } = await withRigs(farm);
    await bench.act(ids[1] ?? 0, { action: "stop" });
    bench.rig(5).fault = "off";
    await bench.poll(ids[5] ?? 0);
    const pool = await bench.store.pools.add({
      description: "",
      coinClass: "",
      coinShortName: "",
      coinAlgorithm: "",
      url: "stratum+tcp://new.example:3333",
      workerName: "w",
      walletAddress: "",
      plainWorkerPassword: "x",
    });
    return { bench, ids, pool: pool.id };
  }

  test("touches no rig and leaves no command", async () => {
    const { bench, ids } = await mixed();
    const counts = () => bench.farm.rigs.map(({ requests }) => requests.count);
    const commands = async () => (await bench.service.listCommands({}, caller)).commandList.length;
    const before = [counts(), await commands()];
    const { id } = await bulk(bench, { action: "stop", miners: ids, dryRun: true });
    const judged = await look(bench, id);
    expect(judged).toMatchObject({ state: "done", dryRun: true, total: 6, done: 2, failed: 4 });
    expect(states(judged)).toEqual(["possible", "failed", "failed", "failed", "possible", "failed"]);
    expect([counts(), await commands()]).toEqual(before);
    expect(await refusal(bench.service.cancelBulkAction({ id }, caller))).toBe("not.possible");
  });

  test.each([
    ["stop", {}],
    ["start", {}],
    ["restart", {}],
    ["set", { property: "frequency", value: 99_999 }],
    ["set", { property: "frequency", value: 500 }],
    ["set", { property: "fan", value: "auto" }],
    ["set_power_limit", { watts: 10 }],
    ["locate", { on: true }],
    ["add_pool", { pool_type: "single" }],
    ["change_pool", { pool_type: "single" }],
  ] as const)("of %s %j says of each miner what the action itself then meets", async (action, given) => {
    const { bench, ids, pool } = await mixed();
    const parameters = "pool_type" in given ? { ...given, pool_id: pool } : given;
    const asked = { action, parameters, miners: ids };
    const dry = await look(bench, (await bulk(bench, { ...asked, dryRun: true })).id);
    const wet = await ended(bench, await bulk(bench, asked));
    const refused = ({ results }: typeof dry) =>
      results.map(({ state, message }) => (state === "failed" ? message : "taken"));
    expect(refused(dry)).toEqual(refused(wet));
    expect(dry.failed).toBeGreaterThan(0);
  });
});

describe("after a restart of the service", () => {
  test("it continues with what was queued, and sends to no rig twice", async () => {
    const { bench, ids } = await withRigs(many(3, axeos));
    const job = await bulk(bench, { miners: ids, parallel: 1, delay: 3600 });
    await until(async () => (await look(bench, job.id)).done === 1, "the first miner's restart to be done");
    await bench.restart();
    await until(async () => (await look(bench, job.id)).done === 2, "the second miner's restart to be done");
    await bench.restart();
    expect(await ended(bench, job)).toMatchObject({ state: "done", done: 3 });
    expect(bench.farm.rigs.map(({ requests }) => requests.writes.length)).toEqual([1, 1, 1]);
    const { commandList } = await bench.service.listCommands({}, caller);
    expect(commandList.map(({ actor }) => actor)).toEqual(["test", "test", "test"]);
  });

  test("what was aborted before a byte was sent is sent by the next run; what was aborted later is unknown", async () => {
    // No read may run out of time before the service stops.
    const { bench, ids } = await withRigs(many(3, axeos), { poll: { interval: 3600, timeout: 60 } });
    bench.rig(0).fault = { name: "delay", ms: 60_000 };
    const { writes } = bench.rig(1).requests;
    writes.push = (...items) => {
      bench.rig(1).fault = { name: "delay", ms: 60_000 };
      return Array.prototype.push.apply(writes, items);
    };
    const job = await bulk(bench, { miners: ids, parallel: 2 });
    await until(() => writes.length > 0, "the second rig to be told to restart");
    expect(bench.rig(2).requests.writes).toEqual([]);
    bench.rig(0).fault = null;
    bench.rig(1).fault = null;
    await bench.restart();
    const over = await ended(bench, job);
    expect(states(over)).toEqual(["done", "unknown", "done"]);
    expect(over).toMatchObject({ state: "done", done: 2, failed: 0, unknown: 1 });
    expect(bench.farm.rigs.map(({ requests }) => requests.writes.length)).toEqual([1, 1, 1]);
  });

  test("what waited for a full disk goes on; until it is written down nothing is sent", async () => {
    const store = await openStore({ file: ":memory:", now: Date.now });
    let refused = 0;
    let isFull = true;
    const claim: typeof store.runs.claim = async (id, minerId, commandId) => {
      if (!isFull) return store.runs.claim(id, minerId, commandId);
      refused += 1;
      throw new RigbridgeError("store.full", "The store cannot be written: the disk is full");
    };
    const full = { ...store, runs: { ...store.runs, claim } };
    const bench = await openBench({ rigs: [axeos], store: full });
    const id = await bench.add(bench.rig(0).address);
    const job = await bulk(bench, { miners: [id] });
    await until(() => refused > 0, "the full disk to refuse the job");
    expect(states(await look(bench, job.id))).toEqual(["queued"]);
    isFull = false;
    await bench.restart();
    expect(await ended(bench, job)).toMatchObject({ state: "done", done: 1 });
    expect(bench.rig(0).requests.writes).toHaveLength(1);
  });

  test("miners and users that were removed are named", async () => {
    const { bench, ids } = await withRigs(many(3, axeos));
    const { id: userId } = await bench.store.users.add({
      name: "ann",
      keyHash: null,
      privilege: "control",
      groups: null,
      pools: null,
    });
    const asked = { ...twice, miners: ids, parallel: 1, delay: 3600 };
    const jobs = [await bulk(bench, asked), await bulk(bench, asked, { actor: "ann", userId })];
    await until(
      async () => (await Promise.all(jobs.map(({ id }) => look(bench, id)))).every(({ done }) => done === 1),
      "one miner of each job to be done",
    );
    const [, second = 0] = ids;
    await bench.service.deleteMiner({ id: second }, caller);
    await bench.store.users.remove(userId);
    await bench.restart();
    const [first, of] = jobs;
    if (first === undefined || of === undefined) throw new Error("two jobs were begun");
    await until(async () => (await look(bench, first.id)).failed === 1, "the job to fail for the removed miner");
    expect((await look(bench, first.id)).results[1]).toMatchObject({
      state: "failed",
      message: expect.stringContaining("no longer exists"),
    });
    const gone = await look(bench, of.id);
    expect(states(gone)).toEqual(["done", "cancelled", "cancelled"]);
    expect(gone).toMatchObject({ state: "cancelled" });
    expect(gone.results[1]?.message).toContain(`no user ${userId}`);
  });
});
