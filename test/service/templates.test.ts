import { afterEach, describe, expect, test } from "@jest/globals";
import type { Caller } from "../../src/contract/service.ts";
import type { RunStep } from "../../src/contract/steps.ts";
import { noTemplateProgram } from "../../src/contract/templates.ts";
import type { RigSpec } from "../../src/simulator/index.ts";
import { problem, refusal } from "../errors.ts";
import { until } from "../until.ts";
import { type Bench, caller, closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

const axeos: RigSpec = { kind: "axeos", warm: true, restartSeconds: 0 };
const summer = {
  name: "Summer",
  do: [
    { set: "frequency", value: 500 },
    { action: "locate", on: true },
  ],
};
const pools = [
  { name: "Main", url: "stratum+tcp://main.example:3333", worker: "w" },
  { name: "Other", url: "stratum+tcp://other.example:3333", worker: "w" },
];

async function withRigs(count: number, config: Record<string, unknown> = {}): Promise<{ bench: Bench; ids: number[] }> {
  const bench = await openBench({ rigs: Array<RigSpec>(count).fill(axeos), config });
  const ids: number[] = [];
  for (const { address } of bench.farm.rigs) ids.push(await bench.add(address, { driver: "axeos" }));
  return { bench, ids };
}

const writes = (bench: Bench, index: number) => bench.rig(index).requests.writes.length;

async function user(bench: Bench, more: object): Promise<Caller & { readonly userId: number }> {
  const blank = { name: "ann", keyHash: null, privilege: "administrator", groups: null, pools: null } as const;
  const { id, name } = await bench.store.users.add({ ...blank, ...more });
  return { actor: name, userId: id };
}

const apply = (bench: Bench, id: number, template_id: number, who: Caller = caller) =>
  bench.service.minerAction({ id, action: "apply_template", template_id }, who);

async function inBulk(bench: Bench, action: "apply_template" | "rule", parameters: object, dryRun = false) {
  const body = { action, parameters: { ...parameters }, all: true, parallel: 4, delay: 0, dryRun } as const;
  const { id } = await bench.service.startBulkAction(body, caller);
  const look = () => bench.service.getBulkAction({ id }, caller);
  await bench.idle();
  return look();
}

describe("a managed template", () => {
  test("of the file sets a pool and controls, and the answer says what the rig took", async () => {
    const steps = [{ pool: "Other" }, ...summer.do];
    const { bench, ids } = await withRigs(1, { pools, templates: [{ name: "Summer", do: steps }] });
    const [id = 0] = ids;
    const reply = await apply(bench, id, 1);
    expect(reply).toMatchObject({ success: true, state: "done" });
    expect(reply.message).toMatch(/^pool Other: .*; set frequency: .*; locate: /);
    expect((await bench.get(id)).pool).toBe("other.example");
    // One more than there are steps: it restarts for another pool.
    expect(writes(bench, 0)).toBe(4);
    const commands = await bench.commands(id);
    expect(commands.map(({ action, actor, cause }) => [action, actor, cause?.kind, cause?.key])).toEqual([
      ["locate", "test", "template", "Summer"],
      ["set", "test", "template", "Summer"],
      ["change_pool", "test", "template", "Summer"],
    ]);
    expect(commands[0]?.id).toBe(reply.commandId);
  });

  test("that the rig does not take in full says so, and does not count as success", async () => {
    const steps = [
      { set: "mode", value: "eco" },
      { set: "frequency", value: 9_999 },
      { action: "locate", on: true },
    ];
    const { bench, ids } = await withRigs(1, { templates: [{ name: "Odd", do: steps }] });
    const { code, message } = await problem(apply(bench, ids[0] ?? 0, 1));
    expect(code).toBe("not.possible");
    expect(message).toMatch(/^set mode: This rig has no control "mode".*; set frequency: .*takes .*; locate: /);
    expect(writes(bench, 0)).toBe(1);
  });

  test("is applied to many miners by one job, and by a dry run to none", async () => {
    const { bench } = await withRigs(3, { templates: [summer] });
    bench.rig(1).fault = "off";
    const dry = await inBulk(bench, "apply_template", { template_id: 1 }, true);
    expect(dry.results.map(({ state }) => state)).toEqual(["possible", "possible", "possible"]);
    const job = await inBulk(bench, "apply_template", { template_id: 1 });
    expect(job).toMatchObject({ action: "apply_template", total: 3, done: 2, failed: 1 });
    expect(job.results.map(({ state }) => state)).toEqual(["done", "failed", "done"]);
    expect(job.results[0]?.message).toMatch(/^set frequency: .*; locate: /);
    expect([writes(bench, 0), writes(bench, 1), writes(bench, 2)]).toEqual([2, 0, 2]);
  });

  test("that has only a name does nothing, one that is not there is not found", async () => {
    const { bench, ids } = await withRigs(1, { templates: [{ name: "Empty" }] });
    const [id = 0] = ids;
    expect(await refusal(apply(bench, id, 1))).toBe("nothing.to.do");
    expect(await refusal(apply(bench, id, 9))).toBe("not.found");
    expect(await refusal(apply(bench, 77, 1))).toBe("not.found");
    expect(await bench.commands(id)).toEqual([]);
  });

  test("is added, changed and removed over the API, with every mistake in its steps named", async () => {
    const { bench, ids } = await withRigs(1);
    const steps: Exclude<RunStep, { software: number }>[] = [{ set: "frequency", value: 500 }];
    const { id } = await bench.service.saveManagedTemplate(
      { id: 0, name: "Mine", do: [{ set: "fan", value: 40 }] },
      caller,
    );
    expect(await bench.service.saveManagedTemplate({ id, name: "Renamed" }, caller)).toEqual({
      id,
      name: "Renamed",
      ...noTemplateProgram,
      do: [{ set: "fan", value: 40 }],
    });
    expect(await refusal(bench.service.saveManagedTemplate({ id: 0, name: "Renamed" }, caller))).toBe(
      "input.invalid name",
    );
    await bench.service.saveManagedTemplate({ id, name: "Renamed", do: [{ set: "frequency", value: 500 }] }, caller);
    await bench.restart();
    expect((await bench.service.listManagedTemplates({}, caller)).managedTemplateList).toEqual([
      { id, name: "Renamed", do: steps, ...noTemplateProgram },
    ]);
    expect((await apply(bench, ids[0] ?? 0, id)).state).toBe("done");
    await bench.service.deleteManagedTemplate({ id }, caller);
    expect(await refusal(apply(bench, ids[0] ?? 0, id))).toBe("not.found");
  });
});

describe("what a template names", () => {
  test("is there when it is saved, and stays while the template does", async () => {
    const { bench } = await withRigs(1);
    const { service } = bench;
    const mistaken = { id: 0, name: "Mine", do: [{ pool: "Mian" }, { poolGroup: "Backup" }] };
    const coin = { coinClass: "", coinShortName: "", coinAlgorithm: "", walletAddress: "" };
    const login = { url: "stratum+tcp://main.example:3333", workerName: "w", plainWorkerPassword: "x" };
    const pool = await bench.store.pools.add({ description: "Main", ...coin, ...login });
    const { errors } = await problem(service.saveManagedTemplate(mistaken, caller));
    expect(errors).toEqual([
      { path: "do[0]", message: 'there is no pool "Mian"; did you mean "Main"?' },
      { path: "do[1]", message: 'there is no pool group "Backup"' },
    ]);
    const { id } = await service.saveManagedTemplate({ id: 0, name: "Mine", do: [{ pool: "Main" }] }, caller);
    expect((await problem(service.deletePool({ id: pool.id }, caller))).message).toContain("template Mine");
    const rule = { name: "night", do: [{ template: "Mine" }], manual: true, makerId: null };
    const { id: ruleId } = await bench.store.rules.add(rule);
    expect((await problem(service.deleteManagedTemplate({ id }, caller))).message).toContain("rule night");
    await bench.store.rules.remove(ruleId);
    await service.deleteManagedTemplate({ id }, caller);
    expect(await refusal(service.deletePool({ id: pool.id }, caller))).toBe("done");
  });
});

describe("the rights of a template", () => {
  test("are those of its maker: other users neither change it nor see its steps", async () => {
    const { bench } = await withRigs(1);
    const group = (await bench.service.addGroup({ name: "Hall", parentId: 0 }, caller)).id;
    const ann = await user(bench, { groups: [group] });
    const bob = await user(bench, { name: "bob", groups: [group] });
    const { id } = await bench.service.saveManagedTemplate(
      { id: 0, name: "Ann's", do: [{ set: "fan", value: 40 }] },
      ann,
    );
    expect(await refusal(bench.service.saveManagedTemplate({ id, name: "Bob's" }, bob))).toBe("user.forbidden");
    expect(await refusal(bench.service.deleteManagedTemplate({ id }, bob))).toBe("user.forbidden");
    const shown = async (who: Caller) => (await bench.service.listManagedTemplates({}, who)).managedTemplateList;
    expect(await shown(bob)).toEqual([{ id, name: "Ann's" }]);
    expect(await shown(ann)).toEqual([{ id, name: "Ann's", do: [{ set: "fan", value: 40 }], ...noTemplateProgram }]);
    expect(await refusal(bench.service.saveManagedTemplate({ id, name: "Owner's" }, caller))).toBe("done");
    const cid = await user(bench, { name: "cid", privilege: "control" });
    expect(await refusal(bench.service.saveManagedTemplate({ id: 0, name: "Cid's" }, cid))).toBe("user.forbidden");
  });

  test("end with the rights of its maker, with one notification", async () => {
    const { bench, ids } = await withRigs(1);
    const [id = 0] = ids;
    const ann = await user(bench, {});
    const made = await bench.service.saveManagedTemplate(
      { id: 0, name: "Ann's", do: [{ set: "fan", value: 40 }] },
      ann,
    );
    await bench.service.saveUser({ id: ann.userId, privilege: "control" }, caller);
    const { code, message } = await problem(apply(bench, id, made.id));
    expect([code, message]).toEqual([
      "user.forbidden",
      "The template Ann's is disabled: the user who made it is no longer an administrator",
    ]);
    await bench.restart();
    await until(async () => (await bench.notifications()).length > 0, "the notification");
    expect(await bench.notifications()).toEqual([
      "Template Ann's: Template Ann's is disabled: the user who made it is no longer an administrator",
    ]);
    expect(writes(bench, 0)).toBe(0);
    await bench.service.saveUser({ id: ann.userId, privilege: "administrator" }, caller);
    expect(await refusal(apply(bench, id, made.id))).toBe("done");
  });

  test("reach miners and pools that both its maker and its user see", async () => {
    const { bench, ids } = await withRigs(1, { pools, templates: [{ name: "Pool", do: [{ pool: "Other" }] }] });
    const [id = 0] = ids;
    const dan = await user(bench, { name: "dan", privilege: "control", pools: [1] });
    expect((await problem(apply(bench, id, 1, dan))).message).toBe("There is no managed template 1");
    const group = (await bench.service.addGroup({ name: "Hall", parentId: 0 }, caller)).id;
    const ann = await user(bench, { groups: [group] });
    const made = await bench.service.saveManagedTemplate(
      { id: 0, name: "Ann's", do: [{ set: "fan", value: 40 }] },
      ann,
    );
    expect((await problem(apply(bench, id, made.id))).message).toContain("no longer exists");
    const eve = await user(bench, { name: "eve", privilege: "view" });
    expect(await refusal(apply(bench, id, 1, eve))).toBe("user.forbidden");
    expect(writes(bench, 0)).toBe(0);
  });
});

describe("a manual action", () => {
  const locate: Exclude<RunStep, { software: number }>[] = [{ action: "locate", on: true }];

  test("runs the steps of its rule on a miner, by id or by key, and on many", async () => {
    const { bench, ids } = await withRigs(2);
    const [id = 0] = ids;
    const rule = await bench.store.rules.add({ name: "find", do: locate, manual: true, makerId: null });
    const list = await bench.service.listMiners({}, caller);
    expect(list).toMatchObject({ hasManualAction: true, canManualAction: true });
    expect(list.manualActionList).toEqual([{ id: rule.id, name: "find" }]);
    expect(await bench.act(id, { action: "rule", rule_id: rule.id })).toMatchObject({ success: true, state: "done" });
    expect(await bench.act(id, { action: "rule", rule_id: "find" })).toMatchObject({ success: true });
    expect((await inBulk(bench, "rule", { rule_id: "find" })).done).toBe(2);
    expect([writes(bench, 0), writes(bench, 1)]).toEqual([3, 1]);
    expect((await bench.commands(id)).map(({ cause }) => [cause?.kind, cause?.key])).toEqual([
      ["bulk", "rule"],
      ["manual", "find"],
      ["manual", "find"],
    ]);
  });

  test("is for people who may control the miner; rules that are not manual are not there", async () => {
    const { bench, ids } = await withRigs(1);
    const [id = 0] = ids;
    const hidden = await bench.store.rules.add({ name: "hidden", do: locate, manual: false, makerId: null });
    expect(await bench.service.listMiners({}, caller)).toMatchObject({
      hasManualAction: false,
      canManualAction: false,
      manualActionList: [],
    });
    expect(await refusal(bench.act(id, { action: "rule", rule_id: hidden.id }))).toBe("not.found");
    const rule = await bench.store.rules.add({ name: "find", do: locate, manual: true, makerId: null });
    const eve = await user(bench, { name: "eve", privilege: "view" });
    expect(await bench.service.listMiners({}, eve)).toMatchObject({ hasManualAction: true, canManualAction: false });
    const act = (who: Caller) => refusal(bench.service.minerAction({ id, action: "rule", rule_id: rule.id }, who));
    expect(await act(eve)).toBe("user.forbidden");
    const group = (await bench.service.addGroup({ name: "Hall", parentId: 0 }, caller)).id;
    expect(await act(await user(bench, { name: "dan", privilege: "control", groups: [group] }))).toBe("not.found");
    expect(writes(bench, 0)).toBe(0);
    expect(await act(await user(bench, { name: "cid", privilege: "control" }))).toBe("done");
  });
});

test("a miner says who controls its power, also after a restart", async () => {
  const { bench, ids } = await withRigs(1, { power: { minOn: 0, minOff: 0 } });
  const [id = 0] = ids;
  expect((await bench.get(id)).power.heldBy).toBeNull();
  await bench.act(id, { action: "stop" });
  expect((await bench.get(id)).power.heldBy).toEqual({ what: "test", until: null });
  await bench.restart({ power: { minOn: 0, minOff: 0 } });
  await bench.poll(id);
  expect((await bench.get(id)).power.heldBy).toEqual({ what: "test", until: null });
  await bench.act(id, { action: "start" });
  const { heldBy } = (await bench.get(id)).power;
  expect([heldBy?.what, typeof heldBy?.until]).toEqual(["test", "string"]);
});
