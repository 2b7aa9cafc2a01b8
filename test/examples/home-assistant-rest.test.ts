import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { z } from "zod";
import { isRecord } from "../../src/contract/record.ts";
import { type Dashboard, startDashboard } from "../web/dashboard.ts";

// depends on: examples/home-assistant/without-broker.yaml

const key = "invented-key-of-the-rest-example";
const text = readFileSync(new URL("../../examples/home-assistant/without-broker.yaml", import.meta.url), "utf8");

const Headers = z.strictObject({ "X-API-Key": z.literal(key) });
const Sensor = z.strictObject({
  name: z.string(),
  unique_id: z.string(),
  unit_of_measurement: z.string().optional(),
  device_class: z.enum(["power", "temperature", "energy"]).optional(),
  state_class: z.enum(["measurement", "total_increasing"]).optional(),
});
const Derived = { state: z.string(), availability: z.string() };
const Calls = z.array(z.strictObject({ action: z.string(), data: z.record(z.string(), z.string()).optional() }));
const Package = z.strictObject({
  rest: z.array(
    z.strictObject({
      resource: z.url(),
      headers: Headers,
      scan_interval: z.int(),
      sensor: z.array(
        Sensor.extend({
          value_template: z.string(),
          json_attributes_path: z.string().startsWith("$.").optional(),
          json_attributes: z.array(z.string()).default([]),
        }),
      ),
    }),
  ),
  template: z.tuple([
    z.strictObject({ sensor: z.array(Sensor.extend(Derived)) }),
    z.strictObject({ switch: z.array(Sensor.extend({ ...Derived, turn_on: Calls, turn_off: Calls })) }),
  ]),
  rest_command: z.record(
    z.string(),
    z.strictObject({ url: z.url(), method: z.literal("post"), headers: Headers, timeout: z.int() }),
  ),
});
const secretTag = {
  tag: "!secret",
  resolve: (name: string) => (name === "rigbridge_key" ? key : "not in the example"),
};
const { rest, template, rest_command: commands } = Package.parse(parse(text, { customTags: [secretTag] }));
const [{ sensor: sensors }, { switch: switches }] = template;

/** As Home Assistant makes it from a name. */
const entityOf = (name: string): string => `sensor.${name.toLowerCase().replaceAll(" ", "_")}`;

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await startDashboard({
    rigs: [{ rig: { kind: "axeos", warm: true }, name: "Garage" }],
    config: { http: { key } },
  });
  // Energy is available from the second reading on.
  await dashboard.readAll();
});
afterAll(() => dashboard.close());

const ask = (url: string, method = "GET"): Promise<Response> =>
  fetch(url.replace("http://192.168.1.9:17790", dashboard.url), { method, headers: { "X-API-Key": key } });
const jsonOf = async (url: string): Promise<unknown> => (await ask(url)).json();

/** The value at a path of JSON; undefined if it is not there. */
const valueAt = (json: unknown, path: string): unknown =>
  path.split(".").reduce((value, name) => (isRecord(value) ? value[name] : undefined), json);

test("every sensor reads a field that the service answers with a value", async () => {
  for (const { resource, sensor } of rest) {
    const json = await jsonOf(resource);
    for (const { name, value_template: value, json_attributes_path: path, json_attributes: attributes } of sensor) {
      const [, field = ""] = /^\{\{ value_json\.([\w.]+) \}\}$/.exec(value) ?? [];
      expect([name, valueAt(json, field)]).toEqual([name, expect.anything()]);
      const parent = valueAt(json, path?.slice("$.".length) ?? "");
      for (const each of attributes) expect([each, valueAt(parent, each)]).toEqual([each, expect.anything()]);
    }
  }
});

test("every derived entity reads an attribute that a sensor has", () => {
  const given = rest.flatMap(({ sensor }) =>
    sensor.flatMap(({ name, json_attributes: attributes }) => attributes.map((each) => `${entityOf(name)} ${each}`)),
  );
  const used = [...sensors, ...switches].flatMap(({ state, availability }) =>
    [state, availability].map((each) => {
      const [, entity, attribute] = /state_attr\('([\w.]+)', '(\w+)'\)/.exec(each) ?? [];
      return `${entity} ${attribute}`;
    }),
  );
  expect(new Set(used)).toEqual(new Set(given));
});

test("the switch stops and starts the rig, and reads it again", async () => {
  const statuses = rest.flatMap(({ sensor }) => sensor.map(({ name }) => entityOf(name)));
  for (const { turn_on: on, turn_off: off } of switches)
    for (const [calls, mining] of [
      [off, false],
      [on, true],
    ] as const) {
      const [command, update] = calls;
      const { url = "", method = "" } = commands[command?.action.replace("rest_command.", "") ?? ""] ?? {};
      expect([url, (await ask(url, method.toUpperCase())).status]).toEqual([url, 200]);
      expect(update?.action).toBe("homeassistant.update_entity");
      expect(statuses).toContain(update?.data?.entity_id);
      expect(valueAt(await jsonOf(rest[0]?.resource ?? ""), "readings.mining")).toBe(mining);
    }
});

test("every command belongs to a switch, and no two entities have one id", () => {
  const called = switches.flatMap(({ turn_on: on, turn_off: off }) => [...on, ...off].map(({ action }) => action));
  expect(Object.keys(commands).filter((name) => !called.includes(`rest_command.${name}`))).toEqual([]);
  const ids = [...rest.flatMap(({ sensor }) => sensor), ...sensors, ...switches].map((each) => each.unique_id);
  expect(new Set(ids).size).toBe(ids.length);
});
