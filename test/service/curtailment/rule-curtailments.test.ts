import { afterEach, describe, expect, test } from "@jest/globals";
import { CurtailmentPlanBody } from "../../../src/contract/curtailment.ts";
import { problem } from "../../errors.ts";
import { caller, closeBenches } from "../bench.ts";
import { curtailmentBench, whatsminer } from "./curtailment-bench.ts";

afterEach(closeBenches);

async function ruleBench() {
  const bench = await curtailmentBench([whatsminer, whatsminer]);
  const { service } = bench;
  await service.addCurtailmentPlan(CurtailmentPlanBody.parse({ key: "peak", target: { all: true } }), caller);
  await bench.turn(10);
  return { ...bench, curtailments: () => service.listCurtailments({ limit: 10 }, caller) };
}

describe("a schedule", () => {
  test("begins the curtailment of a plan with its own target, and ends it", async () => {
    const { service, turn, curtailments, settles, mining, now } = await ruleBench();
    // The clock begins at 8:00 UTC.
    const clockAt = (minutes: number): string => new Date(now() + minutes * 60_000).toISOString().slice(11, 16);
    await service.addSchedule(
      {
        key: "evening",
        weekly: { from: clockAt(1), to: clockAt(30) },
        do: [{ curtail: "peak", otherTarget: { share: 50 } }],
        onEnd: [{ endCurtailment: "peak" }],
      },
      caller,
    );
    await turn(60);
    await settles(async () => (await curtailments()).length > 0, "its begin");
    expect(await curtailments()).toMatchObject([
      { plan: "peak", cause: "rule", actor: "schedule evening", target: { share: 50 }, ended: null },
    ]);
    await turn(1_800);
    await settles(async () => (await curtailments())[0]?.state === "ended", "the rigs' power");
    expect(await mining()).toEqual([true, true]);
  });
});

describe("a rule", () => {
  const run = (key: string) => ({ action: "rule" as const, parameters: { rule_id: key } });

  test("changes the curtailment that it has begun, and ends no other", async () => {
    const { service, bench, ids, turn, curtailments, start } = await ruleBench();
    const [id = 0] = ids;
    await service.addRule({ key: "less", do: [{ curtail: "peak", lasts: 600 }], manual: true }, caller);
    await service.addRule({ key: "end", do: [{ endCurtailment: "peak" }], manual: true }, caller);
    const { id: ofPerson } = await start({ plan: "peak" });
    for (let times = 0; times < 2; times += 1) {
      await bench.service.startBulkAction(
        { ...run("less"), miners: [id], parallel: 1, delay: 0, dryRun: false },
        caller,
      );
      await turn();
    }
    expect(await curtailments()).toMatchObject([{ cause: "rule", ended: null }, { id: ofPerson }]);
    await bench.service.startBulkAction({ ...run("end"), miners: [id], parallel: 1, delay: 0, dryRun: false }, caller);
    await turn();
    expect((await curtailments()).map(({ ended }) => ended === null)).toEqual([false, true]);
  });

  test("names a plan that exists, which then cannot be removed, and its trial says what it would do", async () => {
    const { service } = await ruleBench();
    const when = { all: [{ reading: "temperature" as const, above: 20 }] };
    const refused = await problem(service.addRule({ key: "hot", when, do: [{ curtail: "peek" }] }, caller));
    expect(refused.errors).toMatchObject([
      { path: "do[0]", message: 'there is no curtailment plan "peek"; did you mean "peak"?' },
    ]);
    await service.addRule(
      { key: "hot", when, do: [{ curtail: "peak" }], onClear: [{ endCurtailment: "peak" }] },
      caller,
    );
    const kept = await problem(service.deleteCurtailmentPlan({ key: "peak" }, caller));
    expect(kept.message).toBe("The plan peak is named by the rule hot; change that first");
    const { notes } = await service.tryRule({ id: "hot" }, caller);
    expect(notes).toContain("each firing begins a curtailment of the plan peak, or changes that of this rule");
  });
});
