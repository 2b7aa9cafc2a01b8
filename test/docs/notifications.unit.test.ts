import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { parseConfig } from "../../src/config/read.ts";
import { ChannelSettings } from "../../src/contract/channels.ts";
import { RigbridgeError } from "../../src/contract/problems.ts";

// depends on: docs/notifications.md

const page = readFileSync(new URL("../../docs/notifications.md", import.meta.url), "utf8");
const examples = Array.from(page.matchAll(/```yaml\n(.*?)```/gs), ([, yaml = ""]) => yaml);
const url = "https://example.org/hook";

/** A value for each variable that an example takes from the environment. */
const environmentOf = (yaml: string): Record<string, string> =>
  Object.fromEntries(
    Array.from(yaml.matchAll(/\$\{(\w+)\}/g), ([, name = ""]) => [
      name,
      name.endsWith("WEBHOOK") ? url : "a-secret-of-the-test",
    ]),
  );

test("a file that takes the secrets of its channels from the environment holds none", () => {
  // The request of an own channel may hold a secret anywhere.
  for (const yaml of examples)
    expect(parseConfig(yaml, "page", environmentOf(yaml)).holdsSecret).toBe(yaml.includes("type: http"));
  const written = (channel: string) => parseConfig(`channels: [${channel}]`, "file", {}).holdsSecret;
  expect(written("{ key: a, type: ntfy, topic: t1 }")).toBe(true);
  expect(written(`{ key: a, type: slack, url: "${url}" }`)).toBe(true);
  expect(written("{ key: a, type: gotify, url: 'http://10.0.0.5', token: t1 }")).toBe(true);
});

test("the page's configurations are valid, and show each type of channel", () => {
  const configs = examples.map((yaml) => parseConfig(yaml, "page", environmentOf(yaml)).config);
  const shown = new Set(configs.flatMap(({ channels }) => channels.map(({ type }) => type)));
  const types = ChannelSettings.options.map((option) => option.shape.type.value);
  expect([...shown].toSorted()).toEqual(types.toSorted());
  expect(configs.some(({ hooks }) => hooks.length > 0)).toBe(true);
});

test.each([
  ["{ key: a, type: ntfy }", "channels[0].topic: is missing: the topic, which on a public server is a password"],
  ["{ key: a, type: telegram, chat: 1 }", "channels[0].token: is missing: the bot's token"],
  ["{ key: a, type: gotify, url: 'http://10.0.0.1' }", "channels[0].token: is missing: the application's token"],
  [`{ key: a, type: webhook, url: '${url}' }`, "channels[0].secret: is missing: the secret that signs each message"],
  ["{ key: a, type: ntyf, topic: t }", 'did you mean "ntfy"?'],
  ["{ key: a, type: ntfy, topic: t, groups: [Nowhere] }", 'channels[0].groups[0]: there is no group "Nowhere"'],
  [
    "{ key: a, type: ntfy, topic: t, quiet: { from: '25:00', to: '07:00' } }",
    "quiet.from: must be a time such as 22:00",
  ],
  [
    "{ key: a, type: mail, host: m, sender: a@b.example, to: [a@b.example], username: u }",
    "channels[0].password: is missing: a login needs username and password",
  ],
  [
    "{ key: a, type: ntfy, topic: t }, { key: a, type: ntfy, topic: u }",
    "channels[1].key: is also the key of channels[0]",
  ],
])("a channel like %s is refused with one sentence", (channels, sentence) => {
  let sentences: string[] = [];
  try {
    parseConfig(`channels: [${channels}]`, "file", {});
  } catch (error) {
    if (error instanceof RigbridgeError) sentences = error.errors.map(({ path, message }) => `${path}: ${message}`);
  }
  expect(sentences).toEqual([expect.stringContaining(sentence)]);
});
