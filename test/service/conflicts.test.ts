import { afterEach, expect, test } from "@jest/globals";
import type { Caller } from "../../src/contract/service.ts";
import { openDoor, relayTo } from "../door.ts";
import { problem } from "../errors.ts";
import { onTestFinished } from "../finished.ts";
import { type Bench, caller, closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

/** What nothing that ann sees or is told may contain: the ids and names of what is in the group Hidden. */
const secret = /hidden|1000000001/i;
const locate = [{ action: "locate" as const, on: true }];

async function openFarm() {
  const bench = await openBench({
    rigs: [{ kind: "axeos", warm: true }],
    config: {
      http: { port: 17_790 },
      groups: [{ name: "Hidden hall" }, { name: "Barn" }],
      channels: [{ key: "hidden-phone", type: "ntfy", url: "http://127.0.0.1:9", topic: "t" }],
      templates: [{ name: "hidden template", do: [{ pool: "hidden pool" }] }],
      rules: [{ key: "hidden-rule", scope: { groups: ["Hidden hall"] }, do: locate }],
      schedules: [{ key: "hidden-schedule", cron: "0 3 * * *", do: locate }],
      pools: [{ name: "hidden pool", url: "stratum+tcp://hidden.example:1" }],
    },
    repeat: () => () => undefined,
  });
  const user = { id: 0, key: undefined, privilege: "administrator" as const, pools: [] };
  const { id: userId } = await bench.service.saveUser({ ...user, name: "ann", groups: [2] }, caller);
  const supply = { type: "tasmota" as const, address: "192.0.2.9", cutPower: true, delay: 0, channel: 0 };
  const { address } = bench.rig(0);
  const first = await bench.service.addMiner({ address, name: "hidden rig", group: "Hidden hall", supply }, caller);
  await bench.service.pollMiner({ id: first.id }, caller);
  return { bench, address, supply, ann: { actor: "ann", userId } };
}

test("no refusal of a write tells a limited administrator of what they cannot see", async () => {
  const { bench, address, supply, ann } = await openFarm();
  const { service } = bench;
  const group = "Barn";
  const mine = await service.addMiner({ address: "127.0.0.1:1", group }, ann);
  const rule = await service.addRule({ key: "mine", do: locate }, ann);
  const steps = (...each: object[]) => each.map((step) => ({ ...step })) as never;
  const refused = [
    service.addMiner({ address, group }, ann),
    service.changeMiner({ id: mine.id, address }, ann),
    service.addMiner({ address: "127.0.0.1:2", group, supply }, ann),
    service.changeMiner({ id: mine.id, supply }, ann),
    service.addMiner({ address: "127.0.0.1:2", group: "Hiden hall" }, ann),
    service.addRule({ key: "a", do: steps({ rule: "hidden-rul" }, { template: "hidden templat" }) }, ann),
    service.addRule({ key: "a", do: steps({ pool: "hidden poo" }, { notify: "hidden-phon", text: "x" }) }, ann),
    service.addRule({ key: "a", inhibitedBy: ["hidden-rul"], when: { all: [{ offline: true }] }, do: locate }, ann),
    service.addRule({ key: "a", scope: { groups: ["Hiden hall"], miners: ["hiden rig"] }, do: locate }, ann),
    service.addSchedule({ key: "a", cron: "0 3 * * *", do: steps({ rule: "hidden-rul" }) }, ann),
    service.changeRule({ id: String(rule.id), do: steps({ template: "hidden templat" }) }, ann),
    service.saveManagedTemplate({ id: 0, name: "a", do: steps({ pool: "hidden poo" }) }, ann),
    service.minerAction({ id: mine.id, action: "rule", rule_id: 1 }, ann),
    service.minerAction({ id: mine.id, action: "apply_template", template_id: 1 }, ann),
    service.deleteManagedTemplate({ id: 1 }, ann),
    service.deleteRule({ id: "1" }, ann),
    service.deleteSchedule({ id: "1" }, ann),
  ];
  for (const each of refused) {
    const { message, errors } = await problem(each);
    // The name that a request gave may be repeated; what it was meant to be may not.
    const told = [message, ...errors.map((error) => error.message)].join("\n").replaceAll(/"[^"]*hid[^"]*"/g, "");
    expect(told.replaceAll(/there is no (?:group|miner|rule) \S+ ?\S*/gi, "")).not.toMatch(secret);
    expect(told).not.toContain("did you mean");
  }
  // Names that others have are free, which tells nothing of them.
  await service.addRule({ key: "hidden-rule", do: locate }, ann);
  await service.addSchedule({ key: "hidden-schedule", cron: "0 3 * * *", do: locate }, ann);
  await service.saveManagedTemplate({ id: 0, name: "hidden template" }, ann);
});

test("a miner whose rig another miner has does not say which one that is", async () => {
  const { bench, ann } = await openFarm();
  const door = await openDoor(relayTo(bench.rig(0).address));
  onTestFinished(() => door.close());
  const { id } = await bench.service.addMiner({ address: door.address, group: "Barn" }, ann);
  await bench.service.pollMiner({ id }, ann).catch(() => undefined);
  const shown = JSON.stringify(await listOf(bench, ann));
  expect(shown).toContain("belongs to another miner");
  expect(shown).not.toMatch(secret);
});

const listOf = async ({ service }: Bench, who: Caller) => [
  (await service.listMiners({}, who)).groupList,
  (await service.listNotifications({}, who)).notificationList,
];
