import { afterEach, expect, test } from "@jest/globals";
import type { MiningService } from "../../src/contract/service.ts";
import { onTestFinished } from "../finished.ts";
import { closeBenches, openBench } from "../service/bench.ts";
import { until } from "../until.ts";
import { bridgeTo } from "./bridged.ts";
import { type Received, startMosquitto, subscribeAt } from "./mosquitto.ts";

afterEach(closeBenches);

const isEvent = ({ topic }: Received): boolean => topic === "rigbridge/notification";
const json = ({ payload }: Received): Record<string, unknown> => JSON.parse(payload);

async function open(config: Record<string, unknown> = {}, over = (service: MiningService) => service) {
  const [bench, mosquitto] = await Promise.all([
    openBench({ rigs: [{ kind: "axeos", warm: true }], config }),
    startMosquitto(),
  ]);
  const listening = await subscribeAt(mosquitto.url);
  const bridge = await bridgeTo(over(bench.service), { url: mosquitto.url });
  onTestFinished(async () => {
    await bridge.close();
    await listening.close();
    await mosquitto.stop();
  });
  return { bench, listening };
}

test("a trouble is one event when it comes and one when it is over, whatever repeats", async () => {
  const { bench, listening } = await open();
  const counts = (open: number, alarms: number) =>
    listening.until(
      (heard) =>
        heard.topic === "rigbridge/notifications" && json(heard).open === open && json(heard).alarms === alarms,
    );
  await counts(0, 0);
  const { setWarning } = bench.service;
  setWarning?.("Disk", "The disk is full");
  const came = json(await listening.until(isEvent));
  expect(came).toMatchObject({ event_type: "warning", severity: "warning", title: "Disk", count: 1, closed: null });
  await counts(1, 1);
  setWarning?.("Disk", "The disk is still full");
  const from = listening.received.length;
  setWarning?.("Disk", null);
  const over = json(await listening.until(isEvent, from));
  expect(over).toMatchObject({ event_type: "closed", id: came.id, title: "Disk", closed: expect.any(String) });
  await counts(0, 0);
  expect(listening.received.filter(isEvent).map((each) => json(each).event_type)).toEqual(["warning", "closed"]);
});

test("a trouble that comes while the counts are read is counted soon after, and its repeat is no second event", async () => {
  let reads = 0;
  let held = Promise.resolve();
  const { bench, listening } = await open({}, (service) => ({
    ...service,
    listNotifications: async (...asked) => {
      const list = await service.listNotifications(...asked);
      reads += 1;
      await held;
      return list;
    },
  }));
  const countOf = (open: number, from: number) =>
    listening.until((heard) => heard.topic === "rigbridge/notifications" && json(heard).open === open, from);
  await countOf(0, 0);
  const { promise, resolve: answer } = Promise.withResolvers<void>();
  held = promise;
  const before = reads;
  await listening.publish("homeassistant/status", "online");
  await until(() => reads > before, "the counts to be read again");
  bench.service.setWarning?.("Disk", "The disk is full");
  await listening.until(isEvent);
  answer();
  // They are also read once a minute, which would be too late.
  await until(() => reads > before + 1, "the counts to be read once more", { timeoutMs: 50_000 });
  await countOf(1, 0);
  bench.service.setWarning?.("Disk", "The disk is still full");
  const from = listening.received.length;
  bench.service.setWarning?.("Disk", null);
  await countOf(0, from);
  expect(listening.received.filter(isEvent).map((each) => json(each).event_type)).toEqual(["warning", "closed"]);
});

test("a trouble that a list contains before its event has come is an event, too", async () => {
  let beforeList = (): void => undefined;
  const { bench, listening } = await open({}, (service) => ({
    ...service,
    listNotifications: async (...asked) => {
      beforeList();
      return service.listNotifications(...asked);
    },
  }));
  await listening.until((heard) => heard.topic === "rigbridge/notifications");
  beforeList = () => {
    beforeList = () => undefined;
    bench.service.setWarning?.("Disk", "The disk is full");
  };
  await listening.publish("homeassistant/status", "online");
  expect(json(await listening.until(isEvent)).title).toContain("Disk");
});

test("an acknowledged or cleared notification changes the counts at once, and is no event", async () => {
  const { bench, listening } = await open();
  const counts = (count: number, unacknowledged: number) =>
    listening.until(
      (heard) =>
        heard.topic === "rigbridge/notifications" &&
        json(heard).count === count &&
        json(heard).unacknowledged === unacknowledged,
    );
  bench.service.setWarning?.("Disk", "The disk is full");
  await listening.until(isEvent);
  await counts(1, 1);
  const caller = { actor: "somebody else" };
  await bench.service.allNotificationsAction({ action: "ack_all" }, caller);
  await counts(1, 0);
  bench.service.setWarning?.("Disk", "The disk is still full");
  await bench.service.allNotificationsAction({ action: "clear_all" }, caller);
  await counts(0, 0);
  expect(listening.received.filter(isEvent).map((each) => json(each).event_type)).toEqual(["warning"]);
});

test("each manual rule is a button of the farm in Home Assistant, and pressing it runs the rule", async () => {
  const { bench, listening } = await open({ rules: [{ name: "Nap" }] });
  await bench.add(bench.rig(0).address);
  const { payload } = await listening.until(({ topic }) => topic === "homeassistant/device/rigbridge_farm/config");
  const { rule_1: button, alarms } = JSON.parse(payload).components;
  expect(button).toMatchObject({ platform: "button", name: "Nap", default_entity_id: "button.mining_farm_nap" });
  expect(alarms).toMatchObject({ platform: "sensor", state_topic: "rigbridge/notifications" });
  const from = listening.received.length;
  await listening.publish(button.command_topic, button.payload_press);
  const answer = await listening.until(({ topic }) => topic === "rigbridge/farm/response", from);
  // This rule has only a name.
  expect(json(answer)).toMatchObject({ status: "error", error: expect.stringContaining("Nap") });
});
