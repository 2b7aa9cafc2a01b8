import { afterEach, describe, expect, test } from "@jest/globals";
import type { Caller, Input } from "../../src/contract/service.ts";
import { siteOf } from "../../src/contract/site-numbers.ts";
import type { RigSpec } from "../../src/simulator/index.ts";
import { problem } from "../errors.ts";
import { closeBenches } from "../service/bench.ts";
import { until } from "../until.ts";
import { owner, type RunningSite, startCentre, startSite } from "./centre-bench.ts";

afterEach(closeBenches);

const cgminer: RigSpec = { kind: "cgminer", warm: true, restartSeconds: 0 };
const locate = [{ set: "locate" as const, value: true }];
/** It holds for every rig that is read, and acts once. */
const warm: Input<"addRule"> = {
  key: "warm",
  when: { all: [{ reading: "temperature", above: 1 }] },
  do: locate,
  guard: false,
};

const sitesOf = (places: readonly RunningSite[]) => places.map(({ name, url, key }) => ({ name, url, key }));

async function startFarms(...places: RunningSite[]) {
  const running = await startCentre(places, { own: { rigs: [cgminer], config: { sites: sitesOf(places) } } });
  const { centre } = running;
  const rule = async (key: string) =>
    (await centre.listRules({}, owner)).rules.find((each) => each.key === key && siteOf(each.id) === 0);
  const states = async (key: string) => (await rule(key))?.sites?.map(({ name, state }) => `${name} ${state}`);
  const become = (key: string, ...wanted: string[]) =>
    until(async () => (await states(key))?.join() === wanted.join(), `${key} to be ${wanted}`, {
      details: async () => JSON.stringify((await rule(key))?.sites),
    });
  return { ...running, rule, states, become };
}

const rulesAt = async ({ bench }: RunningSite) =>
  (await bench.service.listRules({}, owner)).rules.map(({ key, owner, centre = null }) => [key, owner, centre]);

describe("what is defined at a centre for its sites", () => {
  test("acts there without the centre, which does not act by it itself", async () => {
    const barn = await startSite("Barn", { rigs: [cgminer] });
    const { centre, own, become, close } = await startFarms(barn);
    const id = await own.add(own.rig(0).address, { driver: "cgminer" });
    await own.service.addGroup({ name: "Attic", parentId: 0 }, owner);
    const added = await centre.addRule({ ...warm, runsAt: ["Barn"], enabled: false }, owner);
    expect(added.sites).toMatchObject([{ name: "Barn", state: "pending" }]);
    await become("warm", "Barn pushed");
    await centre.changeRule({ id: "warm", enabled: true }, owner);
    await become("warm", "Barn pushed");
    await close();
    const [rig] = (await barn.bench.service.listMinerRows({ view: "list" }, owner)).miners;
    await until(async () => (await barn.bench.commands(rig?.id ?? 0)).length > 0, "the rule to act at the site");
    expect(await barn.bench.commands(rig?.id ?? 0)).toMatchObject([{ action: "set", actor: "rule:warm" }]);
    expect(await own.commands(id)).toEqual([]);
    expect(await rulesAt(barn)).toEqual([["warm", "centre", "head-office"]]);
    const [owned] = await barn.bench.service.listOwned({}, owner);
    expect(owned).toMatchObject({ centre: "head-office", actor: "test for head-office", rules: 1, refused: [] });
  });

  test("is known by its sites: those that it names, all of them, and the centre where it says so", async () => {
    const [barn, cabin] = [await startSite("Barn"), await startSite("Cabin")];
    const { centre, become, rule, site } = await startFarms(barn, cabin);
    const anna = await centre.saveUser({ id: 0, name: "anna", privilege: "administrator" }, owner);
    await centre.addRule(
      { key: "everywhere", do: locate, runsAt: ["all", "here"] },
      { actor: "anna", userId: anna.id },
    );
    await centre.addRule({ key: "cabin", do: [{ rule: "everywhere" }], runsAt: ["Cabin"] }, owner);
    await become("everywhere", "Barn pushed", "Cabin pushed");
    await become("cabin", "Cabin pushed");
    expect(await rulesAt(barn)).toEqual([["everywhere", "centre", "head-office"]]);
    expect((await site("Cabin"))?.definitions).toEqual({ pushed: 2, pending: 0, refused: [] });
    const inList = (await centre.listMiners({}, owner)).manualActionList;
    expect(inList.filter(({ name }) => name === "everywhere")).toHaveLength(3);
    expect(inList.filter(({ name }) => name === "cabin")).toHaveLength(1);
    expect((await problem(centre.tryRule({ id: "cabin" }, owner))).message).toMatch(/acts at other sites alone/);
    const refusals = [
      await problem(centre.addRule({ key: "odd", do: locate, runsAt: ["Cabn"] }, owner)),
      await problem(centre.addSchedule({ key: "odd", do: locate, cron: "0 0 30 2 *", runsAt: ["Barn"] }, owner)),
    ];
    expect(refusals.map(({ errors }) => errors[0]?.message)).toEqual([
      'there is no site "Cabn"; did you mean "Cabin"?',
      expect.stringContaining("never comes"),
    ]);
    // A rule of a user who may no longer have any is taken from its sites; one that names another site leaves the first.
    await centre.saveUser({ id: anna.id, privilege: "view" }, owner);
    await centre.changeRule({ id: "cabin", runsAt: ["Barn"], do: locate }, owner);
    await become("cabin", "Barn pushed");
    expect(await rulesAt(barn)).toEqual([["cabin", "centre", "head-office"]]);
    await until(async () => (await rulesAt(cabin)).length === 0, "the rule to leave its first site");
    expect((await rule("everywhere"))?.sites?.[0]?.problem).toBe("The user who made it is no longer an administrator");
    await centre.deleteRule({ id: "cabin" }, owner);
    await until(async () => (await rulesAt(barn)).length === 0, "the rule to leave its site");
    expect((await site("Barn"))?.definitions).toBeUndefined();
  });

  test("comes to a site that was away when it is back, the newest of it; also after a restart of the centre", async () => {
    const [barn, cabin] = [await startSite("Barn"), await startSite("Cabin")];
    const farms = await startFarms(barn, cabin);
    await cabin.cut();
    await farms.reaches("Cabin", "unreachable");
    await farms.centre.addRule({ key: "first", name: "old", do: locate, runsAt: ["all"] }, owner);
    await farms.become("first", "Barn pushed", "Cabin pending");
    await farms.centre.changeRule({ id: "first", name: "new" }, owner);
    await farms.centre.addSchedule({ key: "night", cron: "0 3 * * *", do: locate, runsAt: ["Cabin"] }, owner);
    await farms.centre.addMaintenance({ name: "fans", until: "2100-01-01T00:00:00Z", runsAt: ["Cabin"] }, owner);
    expect((await farms.rule("first"))?.sites?.[1]?.problem).toMatch(/cannot be reached/);
    await farms.become("first", "Barn pushed", "Cabin pending");
    expect((await farms.site("Cabin"))?.definitions).toEqual({ pushed: 0, pending: 3, refused: [] });
    await farms.close();
    await cabin.join();
    const again = await startCentre([barn, cabin], { own: farms.own });
    const shown = async () => (await again.site("Cabin"))?.definitions?.pushed;
    await until(async () => (await shown()) === 3, "the site to have it all");
    expect((await cabin.bench.service.listRules({}, owner)).rules).toMatchObject([{ name: "new", owner: "centre" }]);
    expect(await cabin.bench.service.listSchedules({}, owner)).toMatchObject([{ key: "night", owner: "centre" }]);
    expect(await cabin.bench.service.listMaintenance({}, owner)).toMatchObject([{ name: "fans", active: true }]);
    const [window] = await again.centre.listMaintenance({}, owner);
    expect(window).toMatchObject({
      name: "fans",
      active: false,
      miners: 0,
      sites: [{ name: "Cabin", state: "pushed" }],
    });
    // A start that finds everything as it should be sends nothing.
    const before = (await cabin.bench.service.listOwned({}, owner))[0]?.time;
    await again.close();
    const third = await startCentre([barn, cabin], { own: farms.own });
    await until(async () => (await third.site("Cabin"))?.definitions?.pushed === 3, "the site to be asked");
    expect((await cabin.bench.service.listOwned({}, owner))[0]?.time).toBe(before);
  });

  test("is refused by a site in its own words, and taken once the site has what it names", async () => {
    const [barn, cabin] = [await startSite("Barn"), await startSite("Cabin")];
    await barn.bench.service.addRule({ key: "mine", name: "Own", do: locate }, owner);
    const { centre, become, rule, site } = await startFarms(barn, cabin);
    await centre.addRule({ key: "attic", do: locate, scope: { groups: ["Attic"] }, runsAt: ["Barn"] }, owner);
    await centre.addRule({ key: "mine", do: locate, runsAt: ["all"] }, owner);
    await become("mine", "Barn refused", "Cabin pushed");
    await become("attic", "Barn refused");
    const taken = 'key: "mine" is the key of rule 1 already';
    expect((await rule("mine"))?.sites?.map(({ problem }) => problem)).toEqual([taken, null]);
    expect((await rule("attic"))?.sites?.[0]?.problem).toBe('scope.groups[0]: there is no group "Attic"');
    expect((await site("Barn"))?.definitions?.refused).toContainEqual({ kind: "rule", name: "mine", message: taken });
    expect(await rulesAt(barn)).toEqual([["mine", "store", null]]);
    const said = async () =>
      (await centre.listNotifications({}, owner)).notificationList.filter(({ title }) =>
        title?.startsWith("The site Barn does not take"),
      );
    expect(await said()).toMatchObject([{ closedUtc: null, message: expect.stringContaining(taken) }]);
    await barn.bench.service.deleteRule({ id: "mine" }, owner);
    await become("mine", "Barn pushed", "Cabin pushed");
    await barn.bench.service.addGroup({ name: "Attic", parentId: 0 }, owner);
    await centre.changeRule({ id: "attic", name: "Attic" }, owner);
    await become("attic", "Barn pushed");
    await until(async () => (await said())[0]?.closedUtc !== null, "the notification to be closed");
  });

  test("is only shown at a site, stays when the centre leaves, and can be released there", async () => {
    const barn = await startSite("Barn");
    const { centre, become, close } = await startFarms(barn);
    await centre.addRule({ key: "hot", do: locate, runsAt: ["Barn"] }, owner);
    await become("hot", "Barn pushed");
    const { service } = barn.bench;
    const refused = await problem(service.changeRule({ id: "hot", enabled: false }, owner));
    expect([refused.code, refused.message]).toEqual([
      "owned.by-centre",
      "rule hot belongs to the centre head-office; change it there",
    ]);
    await close();
    await barn.bench.restart({ users: [{ name: "head-office", privilege: "administrator", centre: true }] });
    expect(await rulesAt(barn)).toEqual([["hot", "centre", "head-office"]]);
    await barn.bench.service.releaseOwned({ centre: "head-office", keep: true }, owner);
    expect((await barn.bench.service.changeRule({ id: "hot", name: "Mine" }, owner)).owner).toBe("store");
  });

  test("needs a key that may change rules there, and says so; a user of the centre who may not, changes nothing", async () => {
    const barn = await startSite("Barn", { privilege: "view" });
    const { centre, become, rule } = await startFarms(barn);
    await centre.addRule({ key: "hot", do: locate, runsAt: ["Barn"] }, owner);
    await become("hot", "Barn refused");
    expect((await rule("hot"))?.sites?.[0]?.problem).toMatch(/administrator/);
    expect(await rulesAt(barn)).toEqual([]);
    const group = await centre.addGroup({ name: "Attic", parentId: 0 }, owner);
    const { id } = await centre.saveUser({ id: 0, name: "ada", privilege: "administrator", groups: [group.id] }, owner);
    const ada: Caller = { actor: "ada", userId: id };
    const refused = await problem(centre.addRule({ key: "mine", do: locate, runsAt: ["Barn"] }, ada));
    expect(refused.errors).toMatchObject([
      { path: "runsAt", message: "is only for users who see all groups and pools" },
    ]);
  });

  test("comes to a site whole or not at all, however its line is cut", async () => {
    const barn = await startSite("Barn");
    const { centre, reaches } = await startFarms(barn);
    const keys = Array.from({ length: 20 }, (_, index) => `rule-${index}`);
    for (const key of keys) await centre.addRule({ key, name: "v0", do: locate }, owner);
    const seen = new Set<string>();
    const look = async () => {
      const names = (await barn.bench.service.listRules({}, owner)).rules.map(({ name }) => name);
      seen.add([...new Set(names)].join());
      return names.join();
    };
    for (let round = 1; round <= 3; round += 1) {
      await barn.cut();
      await reaches("Barn", "unreachable");
      for (const id of keys) await centre.changeRule({ id, name: `v${round}`, runsAt: ["Barn"] }, owner);
      await barn.join();
      await reaches("Barn", "connected");
      // It is asked what it has, and sent the set, while the line is cut again.
      await barn.cut();
      await look();
      await barn.join();
      const whole = keys.map(() => `v${round}`).join();
      await until(async () => (await look()) === whole, "the whole set");
    }
    expect([...seen].filter((names) => names.includes(","))).toEqual([]);
  });
});
