import { once } from "node:events";
import { createServer, request as requestTo } from "node:http";
import { buffer } from "node:stream/consumers";
import { afterEach, describe, expect, test } from "@jest/globals";
import type { Input } from "../../src/contract/service.ts";
import type { RigSpec } from "../../src/simulator/index.ts";
import { problem } from "../errors.ts";
import { closeBenches } from "../service/bench.ts";
import { until } from "../until.ts";
import { atEnd, owner, type RunningSite, startCentre, startSite } from "./centre-bench.ts";

afterEach(closeBenches);

const cgminer: RigSpec = { kind: "cgminer", warm: true, restartSeconds: 0 };
const password = "password-at-the-pool";
const main = {
  id: 0,
  description: "Main",
  url: "stratum+tcp://main.example:3333",
  workerName: "farm",
  walletAddress: "",
  coinShortName: "",
  coinAlgorithm: "",
  coinClass: undefined,
  plainWorkerPassword: password,
};

/** It holds for every rig that is read, and acts once. */
const toGroup: Input<"addRule"> = {
  key: "main",
  when: { all: [{ reading: "temperature", above: 1 }] },
  do: [{ poolGroup: "Both" }],
  guard: false,
};

/** A site of a release that takes none of this: it refuses a set that has any, and counts none. */
async function earlier(place: RunningSite, unknown: readonly string[]): Promise<RunningSite> {
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const { host: _, connection: __, ...headers } = request.headers;
    const isOwned = request.url === "/api/owned";
    const key = unknown.find((each) => body.includes(`"${each}":`));
    if (isOwned && key !== undefined) {
      const refusal = { code: "input.invalid", title: `${key}: unknown key`, status: 400, errors: [] };
      response.writeHead(400, { "content-type": "application/problem+json" }).end(JSON.stringify(refusal));
      return;
    }
    const { method = "GET", url = "/" } = request;
    const there = requestTo(`${place.url}${url}`, { method, headers }, async (reply) => {
      const { "content-length": ___, "transfer-encoding": ____, ...own } = reply.headers;
      response.writeHead(reply.statusCode ?? 502, isOwned ? own : reply.headers);
      if (!isOwned) return void reply.pipe(response);
      const text = (await buffer(reply)).toString();
      response.end(unknown.reduce((rest, each) => rest.replaceAll(new RegExp(`"${each}":\\d+,`, "g"), ""), text));
    });
    there.on("error", () => response.destroy());
    response.on("close", () => there.destroy());
    there.end(body);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : null;
  atEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  return { ...place, url: `http://127.0.0.1:${port}` };
}

async function startFarms(...places: RunningSite[]) {
  const sites = places.map(({ name, url, key }) => ({ name, url, key }));
  const running = await startCentre(places, { own: { config: { sites } } });
  const { centre, own } = running;
  const ruleAt = async () =>
    (await centre.listRules({}, owner)).rules.find((each) => each.owner === "store")?.sites?.[0];
  const poolAt = async () =>
    (await centre.listPools({}, owner)).list.find((each) => each.runsAt !== undefined)?.sites?.[0];
  const become = (what: () => Promise<{ readonly state: string } | undefined>, state: string) => {
    let last: Awaited<ReturnType<typeof what>>;
    const isThat = async () => {
      last = await what();
      return last?.state === state;
    };
    return until(isThat, `it to be ${state}`, { details: () => last });
  };
  const templateAt = async () =>
    (await centre.listManagedTemplates({}, owner)).managedTemplateList.find((each) => each.runsAt !== undefined)
      ?.sites?.[0];
  return { ...running, own, ruleAt, poolAt, templateAt, become };
}

const templatesAt = async ({ bench }: RunningSite) =>
  (await bench.service.listManagedTemplates({}, owner)).managedTemplateList.map(({ name, centre = null }) => [
    name,
    centre,
  ]);

const poolsAt = async ({ bench }: RunningSite) =>
  (await bench.service.listPools({}, owner)).list.map(({ description, centre = null }) => [description, centre]);

describe("pools that are defined at a centre for its sites", () => {
  test("are used there by a rule that is pushed with them, without the centre, also after a restart", async () => {
    const barn = await startSite("Barn", { rigs: [cgminer] });
    const { centre, ruleAt, poolAt, become, close } = await startFarms(barn);
    const pool = await centre.savePool({ ...main, runsAt: ["Barn"] }, owner);
    expect(pool.sites).toMatchObject([{ name: "Barn" }]);
    await centre.savePoolGroup({ id: 0, name: "Both", pools: [pool.id], runsAt: ["all"] }, owner);
    await centre.addRule({ ...toGroup, enabled: false, runsAt: ["Barn"] }, owner);
    await become(poolAt, "pushed");
    await become(ruleAt, "pushed");
    await centre.changeRule({ id: "main", enabled: true }, owner);
    await become(ruleAt, "pushed");
    await close();
    const row = async () => (await barn.bench.service.listMinerRows({ view: "list" }, owner)).miners[0];
    await until(async () => (await row())?.pool === "main.example", "the rig to mine there");
    expect(barn.bench.store.pools.all()).toMatchObject([{ plainWorkerPassword: password, centre: "head-office" }]);
    await barn.bench.restart({ users: [{ name: "head-office", privilege: "administrator", centre: true }] });
    const { service } = barn.bench;
    expect(await poolsAt(barn)).toEqual([["Main", "head-office"]]);
    const id = barn.bench.store.pools.all()[0]?.id ?? 0;
    const group = Number((await service.listPoolGroups({}, owner))[0]?.id);
    const refusals = [
      await problem(service.savePool({ ...main, id, description: "Mine" }, owner)),
      await problem(service.deletePool({ id }, owner)),
      await problem(service.savePoolGroup({ id: group, name: "Mine" }, owner)),
      await problem(service.deletePoolGroup({ id: group }, owner)),
    ];
    expect(refusals.map(({ code }) => code)).toEqual(refusals.map(() => "owned.by-centre"));
    expect(refusals[0]?.message).toBe(`pool ${id} belongs to the centre head-office; change it there`);
    await service.releaseOwned({ centre: "head-office", keep: true }, owner);
    expect((await service.savePool({ ...main, id, description: "Mine" }, owner)).centre).toBeUndefined();
  });

  test("are refused where another pool has the name, and so is the rule that names them", async () => {
    const barn = await startSite("Barn");
    const own = await barn.bench.service.savePool(main, owner);
    const { centre, ruleAt, poolAt, become, site } = await startFarms(barn);
    const { id } = await centre.savePool({ ...main, runsAt: ["all"] }, owner);
    await centre.savePoolGroup({ id: 0, name: "Both", pools: [id], runsAt: ["all"] }, owner);
    await centre.addRule({ key: "main", do: [{ pool: "Main" }], runsAt: ["all"] }, owner);
    await become(ruleAt, "refused");
    expect((await poolAt())?.problem).toBe(`description: "Main" is the name of pool ${own.id} already`);
    expect((await ruleAt())?.problem).toBe('it names the pool "Main", which is not taken');
    expect((await site("Barn"))?.definitions?.refused).toContainEqual({
      kind: "poolGroup",
      name: "Both",
      message: 'pools[0]: the pool "Main" is not taken',
    });
    expect(await poolsAt(barn)).toEqual([["Main", null]]);
    await barn.bench.service.deletePool({ id: own.id }, owner);
    await centre.savePool({ ...main, id, workerName: "barn" }, owner);
    await become(ruleAt, "pushed");
    expect(await poolsAt(barn)).toEqual([["Main", "head-office"]]);
    const odd = await problem(centre.savePool({ ...main, description: "Odd", runsAt: ["Bran"] }, owner));
    expect(odd.errors).toMatchObject([{ path: "runsAt", message: 'there is no site "Bran"; did you mean "Barn"?' }]);
  });

  test("stay at a site that still uses them, which is said, and leave it once it does not", async () => {
    const barn = await startSite("Barn");
    const { centre, poolAt, become, site } = await startFarms(barn);
    const { id } = await centre.savePool({ ...main, runsAt: ["Barn"] }, owner);
    await become(poolAt, "pushed");
    const { service, store } = barn.bench;
    const there = store.pools.all()[0]?.id ?? 0;
    await service.savePoolGroup({ id: 0, name: "Ours", pools: [there] }, owner);
    await service.addRule({ key: "ours", do: [{ pool: "Main" }] }, owner);
    await centre.savePool({ ...main, id, runsAt: [] }, owner);
    const left = async () => (await site("Barn"))?.definitions?.refused;
    await until(async () => ((await left())?.length ?? 0) > 0, "the site to keep it");
    expect(await left()).toEqual([
      {
        kind: "pool",
        name: "Main",
        message: expect.stringMatching(/^it stays, since it is used: Pool \d+ .*pool group Ours, rule ours/),
      },
    ]);
    expect(await poolsAt(barn)).toEqual([["Main", "head-office"]]);
    await service.deleteRule({ id: "ours" }, owner);
    const group = Number((await service.listPoolGroups({}, owner))[0]?.id);
    await service.deletePoolGroup({ id: group }, owner);
    await centre.addMaintenance({ name: "fans", until: "2100-01-01T00:00:00Z", runsAt: ["Barn"] }, owner);
    await until(async () => (await poolsAt(barn)).length === 0, "the pool to leave");
    await until(async () => (await left())?.length === 0, "the centre to know");
  });

  test("are sent with their password, which is shown nowhere", async () => {
    const barn = await startSite("Barn");
    const { centre, poolAt, become, site } = await startFarms(barn);
    await centre.savePool({ ...main, runsAt: ["Barn"] }, owner);
    await centre.savePool({ ...main, description: "Odd", coinShortName: "NONE", id: 0 }, owner).catch(() => undefined);
    await become(poolAt, "pushed");
    const { service, store } = barn.bench;
    expect(store.pools.all()[0]?.plainWorkerPassword).toBe(password);
    const [centreRow] = store.centres.all();
    const shown = [
      await service.listOwned({}, owner),
      await service.listPools({}, owner),
      await service.listPoolGroups({}, owner),
      await service.listNotifications({}, owner),
      await service.savePool({ ...main, id: 1 }, owner).catch((error: Error) => error.message),
      await site("Barn"),
      centreRow,
    ];
    const text = JSON.stringify(shown);
    expect(text).toContain("main.example");
    expect(text).not.toContain(password);
    // Its name is a digest over the password, too.
    expect((await service.listOwned({}, owner))[0]?.version).toBe("");
    expect(centreRow?.version).toMatch(/^[0-9a-f]{64}$/);
  });

  test("do not keep a site of an earlier release from its rules", async () => {
    const barn = await startSite("Barn");
    const old = await earlier(barn, ["pools", "poolGroups", "templates"]);
    const { centre, ruleAt, poolAt, become } = await startFarms(old);
    await centre.savePool({ ...main, runsAt: ["all"] }, owner);
    await centre.addRule({ key: "main", do: [{ action: "restart" }], runsAt: ["all"] }, owner);
    await become(ruleAt, "pushed");
    expect((await poolAt())?.problem).toBe("It takes no pools; a newer version of Rigbridge does");
    expect(await poolsAt(barn)).toEqual([]);
  });
});

const toMain = { id: 0, name: "To main", do: [{ pool: "Main" }] };

describe("managed templates that are defined at a centre for its sites", () => {
  test("mean the pools of the site, are applied there, and are read-only, also after a restart", async () => {
    const barn = await startSite("Barn", { rigs: [cgminer] });
    await barn.bench.service.savePool({ ...main, url: "stratum+tcp://barn.example:3333" }, owner);
    const { centre, ruleAt, templateAt, become, close } = await startFarms(barn);
    // The centre has no pool of that name.
    const saved = await centre.saveManagedTemplate({ ...toMain, runsAt: ["Barn"] }, owner);
    expect(saved.sites).toMatchObject([{ name: "Barn" }]);
    await centre.addRule({ ...toGroup, do: [{ template: "To main" }], enabled: false, runsAt: ["Barn"] }, owner);
    await become(templateAt, "pushed");
    await become(ruleAt, "pushed");
    await centre.changeRule({ id: "main", enabled: true }, owner);
    await become(ruleAt, "pushed");
    await close();
    const row = async () => (await barn.bench.service.listMinerRows({ view: "list" }, owner)).miners[0];
    await until(async () => (await row())?.pool === "barn.example", "the rig to mine there");
    const template_id = barn.bench.store.templates.all()[0]?.id ?? 0;
    const byHand = { action: "apply_template", parameters: { template_id }, parallel: 1, delay: 0 } as const;
    const job = await barn.bench.service.startBulkAction({ ...byHand, all: true, dryRun: true }, owner);
    const results = async () => (await barn.bench.service.getBulkAction({ id: job.id }, owner)).results;
    await until(async () => (await results())[0]?.state === "possible", "it to be applicable by hand");
    await barn.bench.restart({ users: [{ name: "head-office", privilege: "administrator", centre: true }] });
    const { service, store } = barn.bench;
    expect(await templatesAt(barn)).toEqual([["To main", "head-office"]]);
    const id = store.templates.all()[0]?.id ?? 0;
    const refusals = [
      await problem(service.saveManagedTemplate({ ...toMain, id, name: "Mine" }, owner)),
      await problem(service.deleteManagedTemplate({ id }, owner)),
    ];
    expect(refusals.map(({ code, status }) => [code, status])).toEqual(refusals.map(() => ["owned.by-centre", 409]));
    expect(refusals[0]?.message).toBe(`managed template ${id} belongs to the centre head-office; change it there`);
    await service.releaseOwned({ centre: "head-office", keep: true }, owner);
    expect((await service.saveManagedTemplate({ ...toMain, id, name: "Mine" }, owner)).centre).toBeUndefined();
  });

  test("are refused in the site's words, and so is the rule that names them, until the site has what they name", async () => {
    const barn = await startSite("Barn");
    const { centre, ruleAt, templateAt, become } = await startFarms(barn);
    const { id } = await centre.saveManagedTemplate({ ...toMain, runsAt: ["all"] }, owner);
    await centre.addRule({ key: "main", do: [{ template: "To main" }], runsAt: ["all"] }, owner);
    await become(ruleAt, "refused");
    expect((await templateAt())?.problem).toBe('do[0]: there is no pool "Main"');
    expect(await templatesAt(barn)).toEqual([]);
    const pool = await centre.savePool({ ...main, runsAt: ["all"] }, owner);
    await become(ruleAt, "pushed");
    expect(await templatesAt(barn)).toEqual([["To main", "head-office"]]);
    // A pool that was renamed is sent under its new name, in templates too.
    await centre.saveManagedTemplate({ ...toMain, id, runsAt: ["here", "all"] }, owner);
    await centre.savePool({ ...main, id: pool.id, description: "Prime" }, owner);
    await until(async () => (await poolsAt(barn))[0]?.[0] === "Prime", "the pool to have its name");
    await become(templateAt, "pushed");
    expect(barn.bench.store.templates.all()).toMatchObject([{ do: [{ pool: "Prime" }] }]);
    const odd = await problem(centre.saveManagedTemplate({ ...toMain, id, runsAt: ["Bran"] }, owner));
    expect(odd.errors).toMatchObject([{ path: "runsAt", message: 'there is no site "Bran"; did you mean "Barn"?' }]);
  });

  test("stay at a site whose rules use them, which is said, and leave it once they do not", async () => {
    const barn = await startSite("Barn");
    const { centre, templateAt, become, site } = await startFarms(barn);
    const locate = { ...toMain, do: [{ set: "locate" as const, value: true }] };
    const { id } = await centre.saveManagedTemplate({ ...locate, runsAt: ["Barn"] }, owner);
    await become(templateAt, "pushed");
    const { service } = barn.bench;
    const { userId } = await service.getUser({ username: "head-office" }, owner);
    const office = { actor: "head-office", userId };
    await service.addRule({ key: "ours", do: [{ template: "To main" }] }, office);
    await centre.saveManagedTemplate({ ...locate, id, runsAt: [] }, owner);
    const left = async () => (await site("Barn"))?.definitions?.refused;
    await until(async () => ((await left())?.length ?? 0) > 0, "the site to keep it");
    expect(await left()).toEqual([
      {
        kind: "template",
        name: "To main",
        message: expect.stringMatching(/^it stays, since it is used: Managed template To main .*rule ours/),
      },
    ]);
    await service.deleteRule({ id: "ours" }, owner);
    await centre.addMaintenance({ name: "fans", until: "2100-01-01T00:00:00Z", runsAt: ["Barn"] }, owner);
    await until(async () => (await templatesAt(barn)).length === 0, "the template to leave");
  });

  test("are sent with the parameters of mining software, which the site does not show", async () => {
    const barn = await startSite("Barn");
    const { centre, templateAt, become } = await startFarms(barn);
    await centre.saveManagedTemplate(
      { id: 0, name: "Faster", commandLineParams: `--password ${password}`, runsAt: ["Barn"] },
      owner,
    );
    await become(templateAt, "pushed");
    const { service, store } = barn.bench;
    expect(store.templates.all()).toMatchObject([{ commandLineParams: `--password ${password}` }]);
    const shown = JSON.stringify([await service.listManagedTemplates({}, owner), await service.listOwned({}, owner)]);
    expect(shown).toContain("Faster");
    expect(shown).not.toContain(password);
  });

  test("do not keep a site of an earlier release from its pools and rules", async () => {
    const barn = await startSite("Barn");
    const { centre, ruleAt, poolAt, templateAt, become } = await startFarms(await earlier(barn, ["templates"]));
    await centre.savePool({ ...main, runsAt: ["all"] }, owner);
    await centre.saveManagedTemplate({ ...toMain, runsAt: ["all"] }, owner);
    await centre.addRule({ key: "main", do: [{ pool: "Main" }], runsAt: ["all"] }, owner);
    await become(poolAt, "pushed");
    await become(ruleAt, "pushed");
    expect((await templateAt())?.problem).toBe("It takes no templates; a newer version of Rigbridge does");
    expect(await templatesAt(barn)).toEqual([]);
  });
});
