import { readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { logLevels } from "../../src/config/log-levels.ts";
import { HomeAssistantSettings, MqttSettings } from "../../src/config/mqtt.ts";
import { CurtailmentBody } from "../../src/contract/curtailment.ts";
import { operations } from "../../src/contract/operations.ts";
import { actionIntents, settingIntents, settingsIntents } from "../../src/farm/index.ts";
import { looseIn } from "../../src/mqtt/command-inbox.ts";
import { commandTopic, topicsOf } from "../../src/mqtt/topics.ts";

// depends on: docs/mqtt.md

const page = readFileSync(new URL("../../docs/mqtt.md", import.meta.url), "utf8");
const base = "rigbridge";

describe("the page on MQTT", () => {
  test("names every key of the configuration", () => {
    for (const key of [...Object.keys(MqttSettings.shape), ...Object.keys(HomeAssistantSettings.shape)])
      expect(page).toContain(`\`${key}`);
  });

  const commands = [...page.matchAll(/^ +mosquitto_pub -t (\S+) -m '?(.*?)'?$/gm)].map(
    ([, topic = "", payload = ""]) => [topic, payload] as const,
  );

  test.each(commands)("sends to %s what the bridge accepts: %s", (topic, payload) => {
    const command = commandTopic(base, topic);
    const value = looseIn(payload);
    if (command?.kind === "request") {
      expect(Object.keys(operations)).toContain(command.operation);
      return;
    }
    expect(command).not.toBeNull();
    if (command?.kind === "bridge") {
      expect(["restart", ...logLevels]).toContain(value);
      return;
    }
    if (command?.kind === "curtailment") {
      if (command.sets === null && !String(payload).includes('"end"'))
        expect(CurtailmentBody.parse({ reason: "MQTT", ...Object(value) })).toBeDefined();
      return;
    }
    if (command?.kind === "action") expect(actionIntents(value)).toHaveLength(1);
    else if (command?.property === null) expect(settingsIntents(value)).toHaveLength(1);
    else expect(settingIntents(command?.property ?? "", value)).toHaveLength(1);
  });

  test("lists every topic", () => {
    const topics = topicsOf(base);
    const miner = topics.miner("025100000001");
    const listed = [...page.matchAll(/^\| `(rigbridge\/\S+)`/gm)].map(([, topic]) => topic);
    expect(listed).toEqual([
      ...[topics.state, topics.info, topics.waiting, topics.summary],
      ...[miner.state, miner.availability, miner.event, miner.response],
      ...[topics.group(1).state, topics.facility("main").state, topics.facility("main").availability],
      topics.place("6fd21c0b8a93"),
      ...[topics.curtailment.state, topics.curtailment.response],
      ...[topics.notification, topics.notifications, topics.bridge.response],
      topics.response("listMiners"),
    ]);
  });
});
