import { readdirSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { readConfig } from "../../src/config/index.ts";

// depends on: test/config/earlier/*

/**
 * Configurations from earlier versions of the examples and the documentation. They are never changed: a configuration
 * that users have copied must stay valid, or be refused with a sentence that names the new key.
 */
const folder = new URL("earlier/", import.meta.url);
const environment = {
  RIGBRIDGE_KEY: "an-invented-key-of-some-length",
  OPERATOR_KEY: "another-invented-key-of-length",
  PROMETHEUS_KEY: "an-invented-key-for-prometheus",
  ANNAS_KEY: "an-invented-key-that-anna-has",
  GUEST_KEY: "an-invented-key-that-guests-have",
  ANTMINER_PASSWORD: "invented",
  MQTT_PASSWORD: "invented",
  STUDY_TOKEN: "Bearer invented",
};
/** The refusal by file, which names the new key. */
const refusals: Readonly<Record<string, RegExp>> = {};

const earlier = readdirSync(folder);

test("there are earlier configurations of the examples and of the documentation", () => {
  expect(earlier.filter((name) => name.startsWith("examples-")).length).toBeGreaterThan(4);
  expect(earlier.filter((name) => name.startsWith("docs-")).length).toBeGreaterThan(7);
});

describe.each(earlier)("the earlier configuration %s", (name) => {
  test("is accepted, or refused with the name of the current key", async () => {
    const reading = readConfig(new URL(name, folder).pathname, environment);
    const refused = refusals[name];
    if (refused === undefined) await expect(reading).resolves.toBeDefined();
    else
      await expect(reading).rejects.toMatchObject({ code: "config.invalid", message: expect.stringMatching(refused) });
  });
});
