import { describe, expect, test } from "@jest/globals";
import { undoPlan } from "../../src/web/pages/rigs/bulk-undo.ts";

type Job = Parameters<typeof undoPlan>[0];
const result = (minerId: number, before: string | null, state: Job["results"][number]["state"] = "done") => ({
  minerId,
  state,
  message: "",
  before,
});
const fan = (...results: Job["results"]): Job => ({
  action: "set",
  parameters: { property: "fan", value: "70" },
  dryRun: false,
  results,
});

describe("undoing an action for many rigs", () => {
  test("gives each rig back what it had, the same values together", () => {
    expect(undoPlan(fan(result(1, "55"), result(2, "auto"), result(3, "55")))).toEqual({
      give: [
        { value: "55", ids: [1, 3], parameters: { property: "fan", value: "55" } },
        { value: "auto", ids: [2], parameters: { property: "fan", value: "auto" } },
      ],
      rigs: 3,
      unknown: 0,
    });
  });

  test("counts the rigs whose former value is not known", () => {
    expect(undoPlan(fan(result(1, "55"), result(2, null), result(3, null, "unknown")))?.unknown).toBe(2);
  });

  test("passes over rigs that were not changed, but not over those that may have been", () => {
    const plan = undoPlan(
      fan(result(1, "55", "failed"), result(2, "55", "cancelled"), result(3, "70.0"), result(4, "55", "unknown")),
    );
    expect(plan?.give.map(({ ids }) => ids)).toEqual([[4]]);
  });

  test.each<Partial<Job>>([
    { results: [result(1, null)] },
    { results: [result(1, "70")] },
    { dryRun: true },
    { action: "reboot", parameters: {} },
    { action: "apply_template", parameters: { template_id: 1 } },
  ])("is not offered where nothing can be given back: %j", (changes) => {
    expect(undoPlan({ ...fan(result(1, "55")), ...changes })).toBeNull();
  });

  test.each<[string, Job["parameters"], string, Job["parameters"]]>([
    ["set_power_limit", { watts: 2400 }, "3000", { watts: 3000 }],
    ["set_mode", { mode: "eco" }, "normal", { mode: "normal" }],
    ["change_pool", { pool_id: 1, pool_type: "single" }, "group 4", { pool_id: 4, pool_type: "group" }],
    ["group", { group: "Hall" }, "0", { group: "0" }],
    ["tag", { tag: "0" }, "", { tag: "0" }],
  ])("knows %s", (action, parameters, before, expected) => {
    const job = { action, parameters, dryRun: false, results: [result(1, before)] };
    expect(undoPlan(job)?.give.map((each) => each.parameters)).toEqual([expected]);
  });
});
