import { afterEach, describe, expect, test } from "@jest/globals";
import { pino } from "pino";
import { PoolBody } from "../../src/contract/inputs.ts";
import type { RigSpec } from "../../src/simulator/index.ts";
import { problem } from "../errors.ts";
import { type Bench, caller, closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

type Login = { readonly username?: string; readonly password?: string; readonly token?: string };
interface Case {
  readonly spec: RigSpec;
  readonly login: Login;
  /** What that login does not let it be told. */
  readonly action: "stop" | "reboot";
  readonly title: string;
  readonly words: RegExp;
}

const right: Login = { username: "root", password: "right" };

const antminer: RigSpec = { kind: "antminer", warm: true, password: "right" };
const whatsminer: RigSpec = { kind: "whatsminer", warm: true, password: "right" };
const braiins: RigSpec = { kind: "braiins", warm: true, password: "right" };
const legacy: RigSpec = { kind: "braiins", generation: "bosminer", warm: true, password: "right" };
const vnish: RigSpec = { kind: "vnish", warm: true, password: "right" };
const wrong: Login = { username: "root", password: "wrong" };

const cases: [string, Case][] = [
  [
    "an Antminer without its login",
    { spec: antminer, login: {}, action: "reboot", title: "Login missing", words: /user name and password/ },
  ],
  [
    "an Antminer with a wrong one",
    {
      spec: antminer,
      login: wrong,
      action: "reboot",
      title: "Login wrong",
      words: /rejects this user name and password/,
    },
  ],
  [
    "a WhatsMiner without its password",
    { spec: whatsminer, login: {}, action: "stop", title: "Login missing", words: /configure the password of its API/ },
  ],
  [
    "a Braiins OS without its password",
    { spec: braiins, login: {}, action: "reboot", title: "Login missing", words: /password of its web interface/ },
  ],
  [
    "a Braiins OS with a wrong one",
    { spec: braiins, login: wrong, action: "reboot", title: "Login wrong", words: /rejects this login/ },
  ],
  [
    "an older Braiins OS with a wrong one",
    { spec: legacy, login: wrong, action: "reboot", title: "Login wrong", words: /rejects this login/ },
  ],
  [
    "a VNish without its password",
    {
      spec: vnish,
      login: {},
      action: "stop",
      title: "Login missing",
      words: /configure the password of its web interface/,
    },
  ],
  [
    "a VNish with a wrong one",
    { spec: vnish, login: wrong, action: "stop", title: "Login wrong", words: /rejects the configured password/ },
  ],
];

/** Words of a message, whatever letter it begins with. */
const without = (text: string): string => text.slice(1);

describe.each(cases)("%s", (_what, { spec, login, action, title, words }) => {
  test("is reported in its notes, in the metadata, to callers that control it, and once as a notification", async () => {
    const bench = await openBench({ rigs: [spec] });
    const id = await bench.add(bench.rig(0).address, login);
    await bench.poll(id);
    const { readings, metaData, statusInfo } = await bench.get(id);
    expect(statusInfo.statusDisplay).toBe("Mining");
    const note = readings.notes.find((each) => words.test(each));
    if (note === undefined) throw new Error(`its notes do not say it: ${readings.notes.join("; ")}`);
    expect(metaData.warningList.join()).toMatch(words);
    const list = await bench.service.listMiners({}, caller);
    expect(list.metaData.warningList.join()).toMatch(words);
    const refused = await problem(bench.act(id, { action }));
    expect([refused.code, refused.message]).toEqual([
      "rig.login",
      expect.stringContaining(without(metaData.warningList[0] ?? "")),
    ]);
    const told = async () => (await bench.notifications()).filter((each) => each.startsWith(title));
    expect(await told()).toEqual([expect.stringMatching(words)]);
    await bench.restart();
    await bench.poll(id);
    await bench.poll(id);
    expect(await told()).toHaveLength(1);
    await bench.service.changeMiner({ id, ...right }, caller);
    await bench.poll(id);
    expect((await bench.get(id)).metaData.warningList).toEqual([]);
  });
});

test("a login that is still wrong after a restart is not logged again", async () => {
  const lines: string[] = [];
  const log = pino({}, { write: (line) => void lines.push(JSON.parse(line).msg) });
  const bench = await openBench({ rigs: [vnish], log });
  const id = await bench.add(bench.rig(0).address);
  await bench.restart();
  await bench.poll(id);
  expect(lines.filter((each) => each === "the login of a miner is missing or wrong")).toHaveLength(1);
});

test("several miners with a wrong login are counted in the list", async () => {
  const bench = await openBench({ rigs: [vnish, whatsminer, { kind: "axeos", warm: true }] });
  for (const { address } of bench.farm.rigs) await bench.add(address);
  const { metaData } = await bench.service.listMiners({}, caller);
  expect(metaData.warningList).toEqual(["The login of 2 miners is missing or wrong; see their notes"]);
  expect((await bench.service.getSummary({}, caller)).metaData.warningList).toEqual(metaData.warningList);
});

test("a miner that is added with a driver that wants a login hears of that at once", async () => {
  const bench = await openBench();
  const said = async (login: Login) =>
    (
      await bench.service.addMiner(
        { address: `rig-${Object.keys(login).length}.example`, driver: "vnish", ...login },
        caller,
      )
    ).metaData.warningList;
  expect(await said({})).toEqual([expect.stringMatching(/^No login was given for this VNish/)]);
  expect(await said({ password: "x" })).toEqual([]);
});

test("a WhatsMiner that refuses a command's password is read-only from then on", async () => {
  const bench = await openBench({ rigs: [whatsminer] });
  const id = await bench.add(bench.rig(0).address, { password: "wrong" });
  expect((await bench.get(id)).metaData.warningList).toEqual([]);
  expect((await problem(bench.act(id, { action: "stop" }))).code).toBe("rig.login");
  await bench.poll(id);
  expect((await bench.get(id)).metaData.warningList).toHaveLength(1);
  expect((await bench.notifications()).filter((each) => each.startsWith("Login wrong"))).toHaveLength(1);
});

test("a miner that shows nothing without its login is in error, and not disconnected", async () => {
  const bench = await openBench({ rigs: [{ kind: "xmrig", warm: true, token: "right" }] });
  const id = await bench.add(bench.rig(0).address);
  for (let reads = 0; reads < 3; reads += 1) await bench.poll(id);
  expect(await bench.get(id)).toMatchObject({ isOffline: false, statusInfo: { statusDisplay: "Error" } });
  expect((await bench.get(id)).metaData.warningList).toEqual([expect.stringMatching(/none is configured/)]);
  expect(await bench.notifications()).toEqual([expect.stringMatching(/^Login missing or wrong: .*none is configured/)]);
});

const newPool = PoolBody.parse({ url: "stratum+tcp://new.example:3333", workerName: "w" });

async function whatsminerOf(pools: number): Promise<{ bench: Bench; id: number }> {
  const listed = Array.from({ length: pools }, (_, index) => ({
    url: `stratum+tcp://own-${index}.example:3333`,
    user: "w",
  }));
  const bench = await openBench({ rigs: [{ ...whatsminer, pools: listed }] });
  return { bench, id: await bench.add(bench.rig(0).address, { password: "right" }) };
}

test("pools that a WhatsMiner cannot be given are refused with what keeps them back", async () => {
  const { bench, id } = await whatsminerOf(2);
  const pool = await bench.service.savePool(newPool, caller);
  const untold = /hides their passwords; that of stratum\+tcp:\/\/own-\d\.example:3333 is not known/;
  for (const action of ["add_pool", "change_pool"] as const) {
    const refused = await problem(bench.act(id, { action, pool_id: pool.id, pool_type: "single" }));
    expect([refused.code, refused.message]).toEqual(["not.possible", expect.stringMatching(untold)]);
  }
  const listed = (await bench.get(id)).poolList[1];
  const moved = bench.service.minerPoolAction({ id, poolId: listed?.id ?? 0, action: "prioritize" }, caller);
  expect((await problem(moved)).message).toMatch(untold);
});

test("a full WhatsMiner reports that it holds three pools", async () => {
  const { bench, id } = await whatsminerOf(3);
  const pool = await bench.service.savePool(newPool, caller);
  const refused = await problem(bench.act(id, { action: "add_pool", pool_id: pool.id, pool_type: "single" }));
  expect(refused.message).toMatch(/stores 3 pools/);
});
