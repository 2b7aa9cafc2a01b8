import { describe, expect, test } from "@jest/globals";
import type { BraiinsSpec, SimulatedRig } from "../../src/simulator/index.ts";
import { stoppedClock } from "../clock.ts";
import { startRig } from "../simulated-rig.ts";
import { ask, command, objectOf, records, status } from "./ask.ts";

const clock = stoppedClock();

const start = (spec: Omit<BraiinsSpec, "kind"> = {}): Promise<SimulatedRig> =>
  startRig({ kind: "braiins", warm: true, name: "braiins-1", ...spec }, clock.now);

const post = (rig: SimulatedRig, path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`http://${rig.address}${path}`, { method: "POST", headers, body: JSON.stringify(body) });

async function token(rig: SimulatedRig, password = ""): Promise<string> {
  const reply = await post(rig, "/api/v1/auth/login", { username: "root", password });
  return String(objectOf(await reply.json()).token);
}

async function call(rig: SimulatedRig, method: string, page: string, body?: unknown): Promise<Response> {
  const headers = { authorization: await token(rig) };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  return fetch(`http://${rig.address}/api/v1/${page}`, { method, headers, ...sent });
}

const page = async (rig: SimulatedRig, name: string) => objectOf(await (await call(rig, "GET", name)).json());

describe("a virtual BOSer", () => {
  test("identifies itself over RPC, and serves the page of Braiins OS", async () => {
    const rig = await start();
    expect(records(await command(rig, "version"), "VERSION")).toEqual([
      { API: "3.7", BOSer: "boser-openwrt 0.1.0-0a1b2c3d" },
    ]);
    expect(await (await fetch(`http://${rig.address}/`)).text()).toContain("Braiins OS");
    expect((await fetch(`http://${rig.address}/graphql`)).status).toBe(200);
    expect((await fetch(`http://${rig.address}/api/v2/`)).status).toBe(404);
  });

  test("joins commands, and reports which it has", async () => {
    const rig = await start();
    const joined = objectOf(JSON.parse((await ask(rig, '{"command":"fans+temps"}')).slice(0, -1)));
    expect(Object.keys(joined)).toEqual(["fans", "temps", "id"]);
    expect(records(await command(rig, "check", "pause"), "CHECK")).toEqual([{ Access: "Y", Exists: "Y" }]);
    expect(records(await command(rig, "check", "quit"), "CHECK")).toEqual([{ Access: "N", Exists: "N" }]);
    expect(await status(rig, "quit")).toBe("E14 Invalid command");
    expect(await status(rig, "switchpool", "9")).toBe("E26 Invalid pool id 9");
    expect(await ask(rig, "nonsense")).toContain("Invalid JSON");
  });

  test("serves pages only after a login, and a token lives as long as it is used", async () => {
    const rig = await start({ password: "geheim", tokenSeconds: 100 });
    const details = (authorization: string) =>
      fetch(`http://${rig.address}/api/v1/miner/details`, { headers: { authorization } });
    const wrong = await post(rig, "/api/v1/auth/login", { username: "root", password: "" });
    expect([wrong.status, objectOf(await wrong.json()).message]).toEqual([401, "Invalid username or password"]);
    expect((await post(rig, "/api/v1/auth/login", "root")).status).toBe(400);
    expect((await details("made up")).status).toBe(401);
    const mine = await token(rig, "geheim");
    for (const seconds of [80, 80]) {
      clock.pass(seconds);
      expect((await details(mine)).status).toBe(200);
    }
    clock.pass(101);
    expect((await details(mine)).status).toBe(401);
  });

  test("keeps its power target within its limits, and hashes accordingly", async () => {
    const rig = await start();
    const constraints = await page(rig, "configuration/constraints");
    const tuner = objectOf(constraints.tuner_constraints);
    expect(tuner.power_target).toEqual({ min: { watt: 1017 }, max: { watt: 3250 }, default: { watt: 3250 } });
    expect((await call(rig, "PUT", "performance/power-target", { watt: 5000 })).status).toBe(400);
    expect((await call(rig, "PUT", "performance/power-target", { watt: 1655 })).status).toBe(200);
    clock.pass(120);
    rig.model.advance();
    expect(rig.model.power).toBeCloseTo(1655, -2);
    expect(rig.model.hashrate(60)).toBeCloseTo(47.5e12, -12);
  });

  test("pauses with little power and resumes; stopped, it has to be started", async () => {
    const rig = await start();
    const { status: paused } = await call(rig, "PUT", "actions/pause");
    clock.pass(60);
    expect([paused, (await page(rig, "miner/details")).status]).toEqual([200, 3]);
    expect(rig.model.power).toBeCloseTo(60, -1);
    expect(await status(rig, "devdetails")).toBe("E14 Unavailable");
    await call(rig, "PUT", "actions/stop");
    expect(await page(rig, "miner/details")).toMatchObject({ status: 1, bosminer_uptime_s: 0 });
    expect((await call(rig, "PUT", "actions/resume")).status).toBe(412);
    await call(rig, "PUT", "actions/start");
    expect((await page(rig, "miner/details")).status).toBe(2);
  });

  test("resets what a change of the cooling leaves out", async () => {
    const rig = await start();
    await call(rig, "PUT", "cooling/mode", { auto: { target_temperature: { degree_c: 70 } } });
    await call(rig, "PUT", "cooling/mode", { manual: { fan_speed_ratio: 0.5 } });
    const { temperature } = await page(rig, "configuration/miner");
    expect(objectOf(temperature).mode).toMatchObject({
      manual: { fan_speed_ratio: 0.5, target_temperature: { degree_c: 60 } },
    });
    expect(rig.model.fan).toBe(0.5);
  });

  test("accepts all pools or none", async () => {
    const rig = await start();
    const before = rig.model.pools.map(({ url }) => url);
    const good = { name: "A", pools: [{ url: "stratum+tcp://a.example.com:1", user: "w" }] };
    const bad = { name: "B", pools: [{ url: "nowhere", user: "w" }] };
    expect((await call(rig, "PUT", "pools/batch", [good, bad])).status).toBe(400);
    expect(rig.model.pools.map(({ url }) => url)).toEqual(before);
    expect((await call(rig, "PUT", "pools/batch", [good])).status).toBe(200);
    expect(rig.model.activePool?.url).toBe("stratum+tcp://a.example.com:1");
  });

  test("does not answer while it reboots, and loses its tokens", async () => {
    const rig = await start({ restartSeconds: 60 });
    const mine = await token(rig);
    const headers = { authorization: mine };
    await fetch(`http://${rig.address}/api/v1/actions/reboot`, { method: "PUT", headers });
    await expect(token(rig)).rejects.toThrow();
    clock.pass(70);
    expect((await fetch(`http://${rig.address}/api/v1/miner/details`, { headers })).status).toBe(401);
    expect(await page(rig, "miner/details")).toMatchObject({ bosminer_uptime_s: 10, status: 2 });
  });

  test("does not measure power as a mini miner", async () => {
    const rig = await start({ hardware: "bmm100" });
    expect(await status(rig, "tunerstatus")).toBe("E14 Unavailable");
    expect(objectOf((await page(rig, "miner/stats")).power_stats).approximated_consumption).toBeNull();
  });
});

describe("a virtual BOSminer", () => {
  const graphql = async (rig: SimulatedRig, query: string, cookie = "", variables: unknown = {}) => {
    const reply = await post(rig, "/graphql", { query, variables }, { cookie });
    return { cookie: reply.headers.get("set-cookie") ?? "", ...objectOf(await reply.json()) };
  };
  const login = "mutation{auth{login(username:$u,password:$p){void}}}";
  const root = { username: "root", password: "" };

  test("reports Hz where BOSer reports MHz, and has no REST", async () => {
    const old = await start({ generation: "bosminer" });
    expect(records(await command(old, "devdetails"), "DEVDETAILS")[0]).toMatchObject({ ID: 6, Frequency: 650e6 });
    expect((await fetch(`http://${old.address}/api/v1/version/`)).status).toBe(404);
    const now = await start();
    expect(records(await command(now, "devdetails"), "DEVDETAILS")[0]).toMatchObject({ ID: 1, Frequency: 675 });
  });

  test("answers GraphQL only after a login, and only the requested fields", async () => {
    const rig = await start({ generation: "bosminer", tokenSeconds: 100 });
    const query = "{bos{hostname}}";
    expect(await graphql(rig, query)).toMatchObject({ data: null, errors: [{ message: "Unauthorized" }] });
    expect(await graphql(rig, login, "", { ...root, password: "no" })).toMatchObject({ cookie: "", data: null });
    const { cookie } = await graphql(rig, login, "", root);
    expect(await graphql(rig, query, cookie)).toMatchObject({ data: { bos: { hostname: "braiins-1" } } });
    expect(await graphql(rig, "{bos{nothing}}", cookie)).toMatchObject({
      errors: [{ message: 'Unknown field "nothing"' }],
    });
    expect(await graphql(rig, "{bos{hostname}", cookie)).toMatchObject({ errors: [{ message: "Syntax error" }] });
    clock.pass(101);
    expect(await graphql(rig, query, cookie)).toMatchObject({ errors: [{ message: "Unauthorized" }] });
  });

  test("closes its RPC while it is stopped", async () => {
    const rig = await start({ generation: "bosminer" });
    const { cookie } = await graphql(rig, login, "", root);
    await graphql(rig, "mutation{bosminer{stop{__typename}}}", cookie);
    expect(await ask(rig, '{"command":"summary"}')).toBe("");
    expect(await graphql(rig, "{bosminer{info{workSolver{nominalMhs}}}}", cookie)).toMatchObject({
      data: { bosminer: { info: { workSolver: null } } },
      errors: [{ message: "UNAVAILABLE" }],
    });
  });

  test("loses pools that were added over RPC when it restarts", async () => {
    const rig = await start({ generation: "bosminer" });
    expect(await status(rig, "addpool", "stratum+tcp://a.example.com:1,w,p")).toContain("S55");
    expect(await status(rig, "addpool", "a,b,c,d")).toContain("E53");
    const { cookie } = await graphql(rig, login, "", root);
    await graphql(rig, "mutation{bosminer{restart{__typename}}}", cookie);
    expect(rig.model.pools.map(({ url }) => url)).toEqual([
      "stratum+tcp://pool.example.com:3333",
      "stratum+tcp://backup.example.net:3333",
    ]);
  });
});
