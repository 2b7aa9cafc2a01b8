import { afterEach, expect, test } from "@jest/globals";
import { changesFrom, untilFrom, wantedFrom } from "../../src/cli/curtail-options.ts";
import { caller, closeBenches } from "../service/bench.ts";
import { whatsminer } from "../service/curtailment/curtailment-bench.ts";
import { command, rigbridge } from "./command.ts";
import { servedBench } from "./served-bench.ts";

afterEach(closeBenches);

async function rigs(count: number) {
  const { bench, env } = await servedBench({
    rigs: Array.from({ length: count }, () => whatsminer),
    config: { power: { minOn: 0, minOff: 0 } },
  });
  for (const [index, { address }] of bench.farm.rigs.entries())
    await bench.poll(await bench.add(address, { name: `rig ${index + 1}`, driver: "whatsminer", password: "admin" }));
  const curtail = (...args: string[]) => command(["curtail", ...args], { env });
  return { bench, env, curtail };
}

test("a curtailment is previewed, started, listed, ended and reported", async () => {
  const { env, curtail } = await rigs(2);
  expect((await rigbridge(["curtail", "list"], { env })).stdout).toBe("There are no curtailments.\n");
  expect((await curtail("preview", "--share", "10%")).stdout).toMatch(
    /^Now +\d\.?\d* ?k?W\nTarget .*\nAfterwards .*\nRigs +\d rigs? lowered, \d stopped\nTime +50 % in .*\nRevenue lost /,
  );
  const started = await curtail("start", "--all", "--reason", "peak", "--until", "2h", "--request-key", "grid-1");
  expect(started.stdout).toMatch(/^Curtailment 1: curtailing, .* of 2 rigs, target 0 W, reached in about \d+ s\n$/);
  const again = await curtail("start", "--all", "--reason", "peak", "--request-key", "grid-1", "--json");
  expect(again.stderr).toBe("");
  expect(JSON.parse(again.stdout)).toMatchObject({ id: 1, reason: "peak", until: expect.stringMatching(/^20/) });
  expect((await curtail("list", "--active")).stdout).toMatch(
    /^Id +State +Began +Now +Target +Rigs +Reason\n +1 +curtailing +\d\d-\d\d \d\d:\d\d .* 0\/2 +peak\n$/,
  );
  const changed = await curtail("change", "1", "--share", "50%", "--until", "never", "--json");
  expect(JSON.parse(changed.stdout)).toMatchObject({ id: 1, target: { share: 50 }, until: null });
  expect((await curtail("change", "1", "--until", "3h")).stdout).toMatch(
    /^Curtailment 1: [a-z]+, .* of 2 rigs, target /,
  );
  expect((await curtail("change", "1")).stderr).toBe(
    "Nothing was changed:\n  --until: give a new end, or one of --reduce, --limit, --share and --all\n",
  );
  expect((await curtail("end", "1")).stdout).toMatch(/^Curtailment 1: (?:restoring|ended), /);
  expect((await curtail("report", "1")).stdout).toMatch(/^Curtailment 1: .*\n {2}Reason +peak \(http\)\n/);
  expect((await curtail("report", "1", "--csv")).stdout).toMatch(/^curtailment,plan,reason,miner,.*\r\n1,,peak,,/);
});

test("a plan is listed and drilled, and what it leaves stopped is asked for", async () => {
  const { bench, curtail } = await rigs(1);
  expect((await curtail("plans")).stdout).toBe("There are no plans for curtailments.\n");
  const body = { key: "peak", name: "Peak", target: { reduce: 1_500 }, scope: { miners: ["rig 1"] } };
  await bench.service.addCurtailmentPlan(
    {
      ...body,
      order: "power",
      level: "off",
      safety: false,
      ramp: { parallel: 10, deadline: 300 },
      restore: { parallel: 10, wait: 0 },
    },
    caller,
  );
  expect((await curtail("plans")).stdout).toBe(
    "Key   Name  Miners        Target       State\npeak  Peak  miners rig 1  1500 W less\n",
  );
  expect((await curtail("drill", "peak")).stdout).toMatch(/^Drill 1: ended, .* of 1 rig, target /);
  expect((await curtail("report", "1")).stdout).toMatch(/\nRig +State +Before .*\nrig 1 +released .*Nothing was sent/);
  const asked = "Nothing was changed: without a terminal to ask on, give --yes\n";
  expect((await curtail("drill", "peak", "--real")).stderr).toBe(asked);
  expect((await curtail("drill", "peak", "--real", "--yes", "--lasts", "2m")).stdout).toMatch(/^Drill 2: curtailing, /);
  expect((await curtail("release", "2")).stderr).toBe(asked);
  expect((await curtail("release", "2", "--yes")).stdout).toMatch(/^Drill 2: ended, /);
});

test("mistakes name their options", async () => {
  expect((await command(["curtail", "preview", "--reduce", "2MB", "--share", "50%"])).stderr).toBe(
    'Nothing was curtailed:\n  --reduce, --share: only one of them may be given\n  --reduce: must be in W or kW or MW, not in "MB"\n',
  );
  expect((await command(["curtail", "preview"])).stderr).toBe(
    "Nothing was curtailed:\n  --plan: give a plan, or one of --reduce, --limit, --share and --all\n",
  );
  expect((await command(["curtail", "start", "--plan", "peak", "--groups", "Hall", "--reason", "x"])).stderr).toBe(
    "Nothing was curtailed:\n  --groups: is that of the plan; leave it out, or leave out --plan\n",
  );
  const { env } = await rigs(1);
  expect((await command(["curtail", "preview", "--all", "--places", "Texas"], { env })).stderr).toContain("Texas");
  expect((await command(["curtail", "end", "7"], { env })).stderr).toBe("There is no curtailment 7\n");
});

test("options become the request, with powers in W and times from now", () => {
  expect(wantedFrom({ reduce: "2MW", places: ["Texas", "A,B"] })).toEqual({
    target: { reduce: 2_000_000 },
    scope: { places: ["Texas", "A,B"] },
  });
  expect(wantedFrom({ plan: "peak", limit: "0.5 kW" })).toEqual({ plan: "peak", target: { limit: 500 } });
  const now = Date.parse("2026-05-01T12:00:00Z");
  expect(untilFrom("90m", now)).toBe("2026-05-01T13:30:00.000Z");
  const next = new Date(untilFrom("00:00", now));
  expect([next.getHours(), next.getMinutes(), next.getTime() > now]).toEqual([0, 0, true]);
  expect(untilFrom("2026-05-01T18:00:00Z", now)).toBe("2026-05-01T18:00:00Z");
  expect(changesFrom({ reduce: "3MW", until: "2h" }, now)).toEqual({
    target: { reduce: 3_000_000 },
    until: "2026-05-01T14:00:00.000Z",
  });
  expect(changesFrom({ until: "never" }, now)).toEqual({ until: null });
  expect(() => changesFrom({ all: true, share: "50%" }, now)).toThrow("Nothing was changed:");
  expect(() => untilFrom("tomorrow", now)).toThrow("--until: must be like 2h, 18:00 or 2026-05-01T18:00:00Z");
});
