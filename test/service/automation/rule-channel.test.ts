import { setImmediate as immediate } from "node:timers/promises";
import { afterEach, describe, expect, test } from "@jest/globals";
import { until } from "../../until.ts";
import { caller, closeBenches, openBench } from "../bench.ts";
import { openDouble } from "../notifications/doubles.ts";
import { twoClocks } from "./rule-bench.ts";

afterEach(closeBenches);

const down = {
  key: "down",
  name: "Down",
  when: { all: [{ offline: true }], for: "1m" },
  do: [{ notify: "phone", severity: "critical", text: "{{ miner.name }} is away" }],
};

/** A service with one rig, these rules, and a phone that is told of nothing but what is critical, unless it takes more. */
async function farmWith(rules: readonly object[], from = "critical") {
  const { heard, url } = await openDouble();
  const clocks = twoClocks();
  const turns: (() => Promise<void>)[] = [];
  const turned = (work: () => Promise<void>) => {
    turns.push(work);
    return () => turns.splice(turns.indexOf(work), 1);
  };
  const bench = await openBench({
    rigs: [{ kind: "axeos", warm: true }],
    clock: clocks.now,
    monotonicNow: clocks.monotonicNow,
    repeat: turned,
    ruleTurns: turned,
    config: { rules, channels: [{ key: "phone", type: "ntfy", url, topic: "farm", from }] },
  });
  const id = await bench.add(bench.rig(0).address, { name: "Rig A" });
  const pass = async (seconds: number) => {
    for (let passed = 0; passed < seconds; passed += 30) {
      clocks.pass(30_000);
      await bench.poll(id);
      await immediate();
      for (const turn of [...turns]) await turn();
    }
  };
  const texts = () => heard.map(({ body }) => JSON.parse(body).message);
  const notices = async () =>
    (await bench.service.listNotifications({}, caller)).notificationList.filter(({ source }) => source === "Rules");
  return { bench, id, pass, texts, notices };
}

describe("a rule that notifies a channel", () => {
  test("is one alarm and one recovery for each occurrence, and one notification that closes", async () => {
    const { bench, id, pass, texts, notices } = await farmWith([down]);
    await pass(60);
    bench.rig(0).fault = "off";
    await pass(600);
    await until(async () => texts().length === 1, "the alarm");
    expect(texts()).toEqual(["Rig A is away"]);
    expect(await notices()).toMatchObject([
      { minerId: id, severity: "critical", count: 1, closedUtc: null, message: "Rig A is away" },
    ]);
    bench.rig(0).fault = null;
    await pass(600);
    await until(async () => texts().length === 2, "the recovery");
    expect(texts()[1]).toMatch(/^It is over \(since .*\)$/);
    expect(await notices()).toMatchObject([{ count: 1, closedUtc: expect.any(String) }]);
  });

  test("has the recovery of its own onClear instead, where it has one", async () => {
    const onClear = [{ notify: "phone", severity: "info", text: "{{ miner.name }} is back" }];
    const { bench, pass, texts } = await farmWith([{ ...down, onClear }]);
    await pass(60);
    bench.rig(0).fault = "off";
    await pass(300);
    bench.rig(0).fault = null;
    await pass(600);
    await until(async () => texts().length === 2, "the alarm and the recovery");
    expect(texts()[1]).toMatch(/^Rig A is back/);
    await pass(300);
    expect(texts()).toHaveLength(2);
  });

  test("does not tell it again that a rig is off, which the service has told it", async () => {
    const { bench, pass, texts, notices } = await farmWith([{ use: "tell-me-when-down" }], "warning");
    await pass(60);
    bench.rig(0).fault = "off";
    await pass(900);
    await until(async () => (await notices()).length === 1, "the notification of the rule");
    bench.rig(0).fault = null;
    await pass(900);
    expect(texts()).toEqual([
      expect.stringMatching(/^Cannot be reached/),
      expect.stringMatching(/^It answers again \(since .*\)$/),
    ]);
    expect(await notices()).toMatchObject([{ message: "Rig A cannot be reached", closedUtc: expect.any(String) }]);
  });

  test("tells a channel that the service has not told: the alarm and the end in the words of the rule", async () => {
    const { bench, pass, texts } = await farmWith([{ use: "tell-me-when-down", with: { channel: "phone" } }]);
    await pass(60);
    bench.rig(0).fault = "off";
    await pass(900);
    bench.rig(0).fault = null;
    await pass(900);
    await until(async () => texts().length === 2, "the alarm and the recovery");
    expect(texts()).toEqual(["Rig A cannot be reached", expect.stringMatching(/^Rig A is back/)]);
  });

  test("tells it nothing of a miner in a maintenance window", async () => {
    const window = { name: "Repair", miners: ["Rig A"], until: "2100-01-01T00:00:00Z" };
    const { bench, pass, texts } = await farmWith([down]);
    await bench.service.addMaintenance(window, caller);
    await pass(60);
    bench.rig(0).fault = "off";
    await pass(600);
    expect(texts()).toEqual([]);
  });
});
