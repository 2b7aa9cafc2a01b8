import { afterEach, describe, expect, test } from "@jest/globals";
import type { Caller, Input } from "../../../src/contract/service.ts";
import type { RigSpec } from "../../../src/simulator/index.ts";
import { problem, refusal } from "../../errors.ts";
import { until } from "../../until.ts";
import { type Bench, caller, closeBenches, openBench } from "../bench.ts";

afterEach(closeBenches);

const axeos: RigSpec = { kind: "axeos", warm: true, restartSeconds: 0 };
const locate = [{ action: "locate" as const, on: true }];
const phone = { key: "phone", type: "ntfy", url: "http://127.0.0.1:9", topic: "owners-topic" };
const barnPhone = { ...phone, key: "barn-phone", sharedWith: ["Barn"], topic: "barn-topic" };
const isText = (message: string) => ({ notify: "phone", severity: "critical" as const, text: message });

interface Farm {
  readonly bench: Bench;
  /** Rigs in the groups Barn and Hall. */
  readonly barn: number;
  readonly hall: number;
  /** Administrators of Barn and of Hall. */
  readonly ann: Caller & { readonly userId: number };
  readonly hans: Caller & { readonly userId: number };
}

async function openFarm(config: Record<string, unknown> = {}): Promise<Farm> {
  const bench = await openBench({
    rigs: [axeos, axeos],
    config: {
      http: { port: 17_790 },
      groups: [{ name: "Barn", groups: [{ name: "Loft" }] }, { name: "Hall" }],
      ...config,
    },
    repeat: () => () => undefined,
  });
  const groups = await bench.service.listGroups({}, caller);
  const idOf = (name: string): number => groups.find((each) => each.name === name)?.id ?? 0;
  const user = async (name: string, group: string) => {
    const body = { id: 0, name, key: undefined, privilege: "administrator" as const, groups: [idOf(group)] };
    return { actor: name, userId: (await bench.service.saveUser(body, caller)).id };
  };
  const [ann, hans] = [await user("ann", "Barn"), await user("hans", "Hall")];
  const add = (index: number, group: string) =>
    bench.add(bench.rig(index).address, { driver: "axeos", name: `${group} rig`, group });
  return { bench, barn: await add(0, "Barn"), hall: await add(1, "Hall"), ann, hans };
}

const textsTo = ({ store }: Bench, channel: string): string[] =>
  [...store.outbox.rows()].filter((row) => row.channel === channel).map(({ message }) => message);

const openNotices = async ({ service }: Bench): Promise<string[]> =>
  (await service.listNotifications({}, caller)).notificationList
    .filter(({ source, closedUtc }) => source === "Rules" && closedUtc === null)
    .map(({ title, message }) => `${title}: ${message}`);

/** Runs a manual rule on a miner; resolves with what came of it, or the error. */
const runRule = async ({ service }: Bench, id: number, rule_id: number | string, by: Caller): Promise<string> => {
  try {
    return (await service.minerAction({ id, action: "rule", rule_id }, by)).message;
  } catch (error) {
    return error instanceof Error ? error.message : "";
  }
};

describe("a channel", () => {
  test("that is not shared with a user's groups takes no text of theirs", async () => {
    const { bench, barn, ann } = await openFarm({ channels: [phone, barnPhone] });
    const { service } = bench;
    const refused = await problem(service.addRule({ key: "mine", do: [isText("any text")] }, ann));
    expect(refused.errors).toMatchObject([
      { path: "do[0]", message: 'there is no channel "phone" that this user may use; there are barn-phone' },
    ]);
    const schedule = { key: "night", cron: "0 3 * * *", do: [isText("x")] };
    expect(await refusal(service.addSchedule(schedule, ann))).toBe("input.invalid do[0]");
    const rule = { key: "both", scope: { groups: ["Barn"] }, do: [{ ...isText("to mine"), notify: "all" }] };
    await service.addRule(rule, ann);
    expect(await runRule(bench, barn, "both", ann)).toBe("notify all: Notified barn-phone");
    expect([textsTo(bench, "phone"), textsTo(bench, "barn-phone")]).toEqual([[], ["to mine"]]);
  });

  test("is refused to a step that was stored before, which says so at once", async () => {
    const { bench, barn, ann } = await openFarm({ channels: [phone] });
    const { store } = bench;
    for (const notify of ["phone", "all"]) {
      const step = { ...isText("any text"), notify };
      const row = { name: `to ${notify}`, do: [step], manual: true, makerId: ann.userId };
      await store.rules.add({ ...row, definition: { key: `to-${notify}`, name: row.name, do: [step], manual: true } });
    }
    await bench.restart();
    expect(await openNotices(bench)).toEqual([
      "to phone: The user who made the rule to phone may not use the channel phone; that step does nothing. Change the rule, or share the channel (sharedWith)",
    ]);
    expect(await runRule(bench, barn, "to-phone", ann)).toContain("may not use the channel phone");
    expect(await runRule(bench, barn, "to-all", ann)).toContain("may not use any channel");
    expect(textsTo(bench, "phone")).toEqual([]);
  });

  test("is listed to administrators of the groups that it is shared with, without what it sent and where to", async () => {
    const { bench, ann, hans } = await openFarm({
      channels: [phone, { ...barnPhone, groups: ["Hall", "Loft"], sharedWith: ["Hall", "Loft"] }],
    });
    const listed = async (who: Caller) => await bench.service.listChannels({}, who);
    expect((await listed(caller)).map(({ key, sharedWith }) => [key, sharedWith])).toEqual([
      ["phone", null],
      ["barn-phone", ["Hall", "Loft"]],
    ]);
    expect(await listed(ann)).toEqual([
      expect.objectContaining({
        key: "barn-phone",
        type: "ntfy",
        groups: ["Loft"],
        sharedWith: ["Loft"],
        host: "",
        settings: {},
        notDelivered: [],
        lastError: null,
        waiting: 0,
        lastSentUtc: null,
      }),
    ]);
    expect((await listed(hans)).map(({ key }) => key)).toEqual(["barn-phone"]);
    expect(await refusal(bench.service.testChannel({ key: "barn-phone" }, ann))).toBe("user.forbidden");
  });

  test("that is no longer shared, or removed, is lost to the rules that use it: they say so at once, and when it is back", async () => {
    const { bench, barn, ann } = await openFarm();
    const { service } = bench;
    await service.addChannel({ ...barnPhone, sharedWith: ["Barn"] }, caller);
    await service.addRule({ key: "mine", do: [{ ...isText("x"), notify: "barn-phone" }] }, ann);
    expect(await openNotices(bench)).toEqual([]);
    await service.changeChannel({ key: "barn-phone", sharedWith: null }, caller);
    expect(await openNotices(bench)).toEqual([expect.stringContaining("may not use the channel barn-phone")]);
    expect(await runRule(bench, barn, "mine", ann)).toContain("may not use the channel barn-phone");
    const renamed = service.changeRule({ id: "mine", name: "Mine", enabled: false }, ann);
    expect((await problem(renamed)).message).toContain("barn-phone");
    expect(await service.changeRule({ id: "mine", enabled: false }, ann)).toMatchObject({ enabled: false });
    expect(await openNotices(bench)).toEqual([]);
    await service.changeChannel({ key: "barn-phone", sharedWith: ["Barn"] }, caller);
    await service.changeRule({ id: "mine", enabled: true }, ann);
    await service.changeChannel({ key: "barn-phone", sharedWith: null }, caller);
    await service.changeChannel({ key: "barn-phone", sharedWith: ["Barn"] }, caller);
    expect(await openNotices(bench)).toEqual([]);
  });
});

describe("the names of one user's rules", () => {
  test("are free for others, who learn nothing of them", async () => {
    const { bench, ann, hans } = await openFarm();
    const { service } = bench;
    const first = await service.addRule({ key: "uses", do: locate }, caller);
    const second = await service.addRule({ key: "uses", do: locate }, ann);
    const third = await service.addRule({ key: "uses", do: locate }, hans);
    expect((await problem(service.addRule({ key: "uses", do: locate }, ann))).errors).toMatchObject([
      { path: "key", message: `"uses" is the key of rule ${second.id} already` },
    ]);
    const cron = { key: "night", cron: "0 3 * * *", do: locate };
    for (const who of [caller, ann]) await service.addSchedule(cron, who);
    const template = { id: 0, name: "Summer", do: locate };
    for (const who of [caller, ann]) await service.saveManagedTemplate(template, who);
    expect(await refusal(service.saveManagedTemplate(template, ann))).toBe("input.invalid name");
    // Each means their own by the key, and the owner's own comes first for the owner.
    for (const [who, { id }] of [
      [caller, first],
      [ann, second],
      [hans, third],
    ] as const) {
      const { rules } = await service.listRules({}, who);
      expect((await service.changeRule({ id: "uses", name: `of ${who.actor}` }, who)).id).toBe(id);
      expect(rules.map((rule) => rule.id)).toEqual(who === caller ? [first.id, second.id, third.id] : [id]);
    }
  });

  test("do not change what the owner's steps mean, nor which rule holds the owner's", async () => {
    const { bench, barn, ann } = await openFarm();
    const { service } = bench;
    const cool = await service.addRule({ name: "Cool", do: locate }, caller);
    await service.addRule({ key: "safety", manual: true, do: [{ rule: "Cool" }] }, caller);
    expect(await runRule(bench, barn, "safety", caller)).toMatch(/^locate/);
    await service.addRule({ key: "other", name: "Cool", do: [{ action: "restart" }] }, ann);
    await service.addRule({ key: "Cool", name: "Cool", do: [{ action: "restart" }] }, ann);
    expect(await runRule(bench, barn, "safety", caller)).toMatch(/^locate/);
    await bench.restart();
    expect(await runRule(bench, barn, "safety", caller)).toMatch(/^locate/);
    // By hand, too, the owner's name means the owner's rule, and ann's hers.
    expect(await runRule(bench, barn, "Cool", caller)).toMatch(/^locate/);
    expect(await runRule(bench, barn, "Cool", ann)).toMatch(/^restart/);
    expect(await openNotices(bench)).toEqual([]);
    expect(cool.id).toBe(1);
  });

  test("that several have are refused with the ones that the maker sees; the id is always clear", async () => {
    const { bench, barn } = await openFarm();
    const { service } = bench;
    await service.addRule({ key: "one", name: "Cool", do: locate }, caller);
    await service.addRule({ key: "two", name: "Cool", do: [{ action: "restart" }] }, caller);
    const both = { key: "both", do: [{ rule: "Cool" }] };
    expect((await problem(service.addRule(both, caller))).errors).toMatchObject([
      { path: "do[0]", message: 'there are 2 rules "Cool": one (id 1), two (id 2); name it by its key or id' },
    ]);
    const { id } = await service.addRule({ ...both, do: [{ rule: "2" }] }, caller);
    expect((await service.changeRule({ id: String(id), name: "Both" }, caller)).definition.do).toEqual([
      { rule: "two" },
    ]);
    expect(await runRule(bench, barn, "both", caller)).toMatch(/^restart/);
  });

  test("in loops are those of the maker", async () => {
    const { bench, ann } = await openFarm();
    const { service } = bench;
    await service.addRule({ key: "a", do: locate }, caller);
    await service.addRule({ key: "b", do: [{ rule: "a" }] }, caller);
    await service.addRule({ key: "b", do: locate }, ann);
    // Her b runs nothing, so her a is no loop.
    await service.addRule({ key: "a", do: [{ rule: "b" }] }, ann);
    expect((await problem(service.changeRule({ id: "b", do: [{ rule: "a" }] }, ann))).errors).toMatchObject([
      { path: "do", message: "the rules run each other in a loop: b → a → b" },
    ]);
  });
});

describe("what a step names", () => {
  const pool = (description: string): Input<"savePool"> => ({
    id: 0,
    description,
    coinClass: undefined,
    coinShortName: undefined,
    coinAlgorithm: undefined,
    url: `stratum+tcp://${description.toLowerCase()}.example:3333`,
    workerName: "w",
    walletAddress: undefined,
    plainWorkerPassword: undefined,
  });

  test("stays what it is while its name changes, and is read back with its new name", async () => {
    const { bench, barn } = await openFarm();
    const { service } = bench;
    const { id: poolId } = await service.savePool(pool("Main"), caller);
    const cool = await service.addRule({ name: "cool", do: locate }, caller);
    const rule = { key: "mine", inhibitedBy: ["cool"], when: { all: [{ offline: true as const }] } };
    const steps = [{ rule: "cool" }, { pool: "Main" }];
    await service.addRule({ ...rule, manual: true, do: steps, onClear: steps }, caller);
    const before = { ...pool("Other"), id: poolId };
    await service.savePool({ ...before, url: pool("Main").url }, caller);
    await service.savePool(pool("Main"), caller);
    await service.changeRule({ id: String(cool.id), name: "cooler" }, caller);
    const [, mine] = (await service.listRules({}, caller)).rules;
    const renamed = [{ rule: "cooler" }, { pool: "Other" }];
    expect(mine?.definition).toMatchObject({ inhibitedBy: ["cooler"], do: renamed, onClear: renamed });
    await service.changeRule({ id: "mine", enabled: false }, caller);
    await service.changeRule({ id: "mine", do: renamed, enabled: null }, caller);
    expect(await runRule(bench, barn, "mine", caller)).toMatch(/^locate: .*; pool Other: /);
    expect((await bench.get(barn)).pool).toBe("main.example");
    expect((await problem(service.deletePool({ id: poolId }, caller))).message).toContain("rule mine");
    expect((await problem(service.deleteRule({ id: "cooler" }, caller))).message).toContain("mine");
  });

  test("is named in a notice as soon as it is lost, until it is there again or the rule is changed", async () => {
    const { bench, ann } = await openFarm({ pools: [{ name: "Main", url: "stratum+tcp://main.example:3333" }] });
    const { service } = bench;
    await service.saveUser({ id: ann.userId, pools: [1] }, caller);
    await service.addRule({ key: "mine", do: [{ pool: "Main" }] }, ann);
    await service.addSchedule({ key: "night", cron: "0 3 * * *", do: [{ pool: "Main" }] }, ann);
    await service.saveManagedTemplate({ id: 0, name: "Summer", do: [{ pool: "Main" }] }, ann);
    expect(await openNotices(bench)).toEqual([]);
    await service.saveUser({ id: ann.userId, pools: [] }, caller);
    const lost = (await openNotices(bench)).toSorted();
    expect(lost).toEqual([
      expect.stringMatching(/^Summer: The template Summer names the pool Main, which its creator .* no longer/),
      expect.stringMatching(/^mine: The rule mine names the pool Main/),
      expect.stringMatching(/^night: The schedule night names the pool Main/),
    ]);
    await service.deleteRule({ id: "mine" }, ann);
    expect(await openNotices(bench)).toHaveLength(2);
    await service.saveUser({ id: ann.userId, pools: [1] }, caller);
    expect(await openNotices(bench)).toEqual([]);
    await bench.restart({ groups: [{ name: "Barn" }, { name: "Hall" }] });
    expect(await openNotices(bench)).toHaveLength(2);
    await bench.restart({ pools: [{ name: "Main", url: "stratum+tcp://main.example:3333" }] });
    await until(async () => (await openNotices(bench)).length === 0, "the notices to close");
  });

  test("by a rule of before is resolved at the start, and then stays", async () => {
    const { bench, barn, ann } = await openFarm();
    const { service, store } = bench;
    await service.addRule({ name: "cool", do: locate }, caller);
    const steps = [{ rule: "cool" }];
    const row = { name: "old", do: steps, manual: true, makerId: null };
    await store.rules.add({ ...row, definition: { key: "old", do: steps, manual: true } });
    await store.rules.add({ ...row, name: "lost", do: [{ rule: "none" }] });
    await bench.restart();
    expect(await openNotices(bench)).toEqual([expect.stringMatching(/^lost: The rule lost names the rule none, /)]);
    await bench.service.changeRule({ id: "cool", name: "cooler" }, caller);
    await bench.service.addRule({ key: "cool", do: [{ action: "restart" }] }, ann);
    await bench.service.addRule({ key: "cool", do: [{ action: "restart" }] }, caller);
    expect(await runRule(bench, barn, "old", caller)).toMatch(/^locate/);
  });

  test("of the file's rules is the file's", async () => {
    const { bench, barn, ann } = await openFarm({
      rules: [
        { key: "cool", do: locate },
        { key: "both", do: [{ rule: "cool" }] },
      ],
    });
    await bench.service.addRule({ key: "cool", name: "cool", do: [{ action: "restart" }] }, ann);
    expect(await runRule(bench, barn, "both", caller)).toMatch(/^locate/);
  });
});

describe("lists of names", () => {
  test("hold the templates and manual rules that a user can use", async () => {
    const { bench, barn, ann, hans } = await openFarm({
      pools: [{ name: "Main", url: "stratum+tcp://main.example:3333" }],
      templates: [
        { name: "Fan", do: [{ set: "fan", value: 60 }] },
        { name: "To Main", do: [{ pool: "Main" }] },
      ],
      rules: [
        { key: "everywhere", do: locate },
        { key: "in-hall", scope: { groups: ["Hall"] }, do: locate },
        { key: "in-barn", scope: { groups: ["Barn"] }, do: locate },
        { key: "not-barn", scope: { not: { groups: ["Barn"] } }, do: locate },
      ],
    });
    const { service } = bench;
    await service.saveUser({ id: ann.userId, pools: [] }, caller);
    await service.addRule({ key: "of-hans", do: locate }, hans);
    await service.addRule({ key: "of-ann", do: locate }, ann);
    await service.saveManagedTemplate({ id: 0, name: "Of Hans", do: locate }, hans);
    const { id } = await service.saveManagedTemplate({ id: 0, name: "Of Ann", do: locate }, ann);
    const names = async (who: Caller) => [
      (await service.listMiners({}, who)).manualActionList.map(({ name }) => name).join(" "),
      (await service.listManagedTemplates({}, who)).managedTemplateList.map(({ name }) => name).join(", "),
    ];
    expect(await names(ann)).toEqual(["everywhere in-barn of-ann", "Fan, Of Ann"]);
    expect(await names(hans)).toEqual(["everywhere in-hall not-barn of-hans", "Fan, To Main, Of Hans"]);
    expect(await names(caller)).toEqual([
      "everywhere in-hall in-barn not-barn of-hans of-ann",
      "Fan, To Main, Of Hans, Of Ann",
    ]);
    // What is not listed is not there: neither by its id, nor by its key, nor for a rule of theirs.
    const act = (more: Partial<Input<"minerAction">>) =>
      refusal(bench.service.minerAction({ id: barn, action: "rule", ...more }, ann));
    expect(await act({ rule_id: "in-hall" })).toBe("not.found");
    expect(await act({ action: "apply_template", template_id: 2 })).toBe("not.found");
    expect(await refusal(service.deleteManagedTemplate({ id: id - 1 }, ann))).toBe("not.found");
    const named = await problem(
      service.addRule({ key: "x", do: [{ rule: "in-hal" }, { template: "Of Hanz" }, { pool: "Mian" }] }, ann),
    );
    expect(named.errors.map(({ message }) => message)).toEqual([
      'there is no rule "in-hal"',
      'there is no managed template "Of Hanz"; did you mean "Of Ann"?',
      'there is no pool "Mian"',
    ]);
    const bulk = { parameters: { rule_id: "in-hall" }, miners: [barn], parallel: 1, delay: 0, dryRun: true };
    expect(await refusal(service.startBulkAction({ action: "rule", ...bulk }, ann))).toBe("not.found");
  });
});
