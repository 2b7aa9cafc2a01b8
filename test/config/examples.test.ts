import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "@jest/globals";
import { Ajv } from "ajv";
import { parse } from "yaml";
import { parseAgentSettings } from "../../src/agent/settings.ts";
import { configSchema, readConfig } from "../../src/config/index.ts";

// depends on: examples/*, examples/gpu-rig/*, examples/home-assistant/*, examples/pair/*, examples/sites/*

const folder = new URL("../../examples/", import.meta.url);
const examples = [
  ...readdirSync(folder).filter((name) => name.endsWith(".yaml")),
  "home-assistant/rigbridge.yaml",
  "pair/rigbridge.yaml",
  "sites/centre.yaml",
  "sites/cabin.yaml",
  "sites/shed.yaml",
];
const secrets = {
  RIGBRIDGE_KEY: "an-invented-key-of-some-length",
  KEY_OF_CABIN: "an-invented-key-of-the-cabin",
  KEY_FOR_THE_CENTRE: "an-invented-key-for-the-centre",
  TOKEN_OF_SHED: "an-invented-token-of-the-shed",
  OPERATOR_KEY: "another-invented-key-of-length",
  ANTMINER_PASSWORD: "invented",
  NTFY_TOPIC: "an-invented-topic",
  XMR_WALLET: "4Invented",
  RVN_WALLET: "RInvented",
  MQTT_PASSWORD: "invented",
  SNMP_AUTH: "invented-too",
  SNMP_PRIV: "invented-as-well",
  STORE_PASSWORD: "invented",
  HOOK_SECRET: "an-invented-secret",
  VTN_CLIENT: "an-invented-client",
  VTN_SECRET: "an-invented-password",
};

const validate = new Ajv({ strict: false, validateFormats: false }).compile(configSchema());
const textOf = (name: string): string => readFileSync(new URL(name, folder), "utf8");

describe.each(examples)("the example %s", (name) => {
  test("has no mistakes and no warnings, although everybody can read it", async () => {
    const { config, warnings } = await readConfig(new URL(name, folder).pathname, secrets);
    expect(warnings).toEqual([]);
    expect(config.miners.length > 0 || config.agent.enabled).toBe(true);
  });

  test("is valid by the JSON Schema for editors", () => {
    validate(parse(textOf(name)));
    expect(validate.errors).toBeNull();
  });

  test("lists its environment variables at the top", () => {
    const [head = ""] = textOf(name).split("\n\n");
    for (const [, variable = ""] of textOf(name).matchAll(/: \$\{(\w+)\}/g)) expect(head).toContain(variable);
  });
});

test("the example of an agent has no mistakes", () => {
  const settings = parseAgentSettings(textOf("gpu-rig/agent.yaml"), "agent.yaml", {});
  expect(settings.allow).toMatchObject({ folders: ["/opt/t-rex"], reboot: false });
});

test("the first example needs no environment variable", async () => {
  await expect(readConfig(new URL("rigbridge.yaml", folder).pathname, {})).resolves.toBeDefined();
});

describe("the JSON Schema for editors", () => {
  test.each([
    ["an unknown key", { htp: {} }],
    ["an unknown key of a group in a group", { groups: [{ name: "a", groups: [{ nam: "b" }] }] }],
    ["a wrong type", { http: { port: "17790" } }],
    ["an unknown driver", { miners: [{ address: "a", driver: "b" }] }],
    ["a broker that is none", { mqtt: { url: "x" } }],
    ["a short key", { http: { key: "short" } }],
  ])("refuses %s", (_, config) => {
    expect(validate(config)).toBe(false);
  });

  test("accepts a variable for a key, however short", () => {
    expect(validate({ http: { key: `\${K}` } })).toBe(true);
  });

  test("describes every key", () => {
    const schema = JSON.stringify(configSchema());
    expect(schema).toContain('"description":"the API server"');
    expect(undescribed(configSchema(), "")).toEqual([]);
  });
});

/** Paths of properties without a description whose name is not clear enough. */
function undescribed(schema: unknown, path: string): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]: [string, unknown]) => {
    const at = `${path}/${key}`;
    const isProperty = path.endsWith("/properties");
    const plain = ["name", "site", "container", "rack", "slot"].includes(key);
    const bare = isProperty && !plain && !(typeof value === "object" && value !== null && "description" in value);
    return [...(bare ? [at] : []), ...undescribed(value, at)];
  });
}
