import { expect, test } from "@jest/globals";
import { parseConfig } from "../../src/config/read.ts";
import { RigbridgeError } from "../../src/contract/problems.ts";

const farm = `
groups: [{name: oven, groups: [{name: shelf}]}]
miners: [{address: 127.0.0.1:20001, name: a, uid: rig-a, group: oven}]
`;

const read = (text: string) => parseConfig(farm + text, "rigbridge.yaml", { TOKEN: "sesame" });

const mistakes = (text: string): string[] => problemsOf(() => read(text));

function problemsOf(work: () => unknown): string[] {
  try {
    work();
    return [];
  } catch (error) {
    if (!(error instanceof RigbridgeError)) throw error;
    return error.errors.map(({ path, message }) => `${path.replace(/^[^:]*:\d+: /, "")}: ${message}`);
  }
}

const room = "name: Den, target: 21, roomTemperature: {api: true}";

test("one room, and one surplus, may stand without a list", () => {
  const { config } = read(`
heating: {${room}, group: oven}
follow: {name: Roof, group: shelf, surplus: {url: "http://meter.local/rpc", path: a.0.b}, order: [a]}
`);
  expect(config.heating).toMatchObject([{ name: "Den", hysteresis: 0.5, target: 21 }]);
  expect(config.follow).toMatchObject([
    { name: "Roof", measures: "export", reserve: 0, dwell: 120, surplus: { every: 30 } },
  ]);
  expect(read("").config).toMatchObject({ heating: [], follow: [] });
});

test("rooms may have a maximum", () => {
  const { config } = read(`heating: {${room}, group: oven, max: 900}`);
  expect(config.heating).toMatchObject([{ max: 900 }]);
  const groups = (of: string) => parseConfig(`groups: [{name: oven, room: ${of}}]`, "rigbridge.yaml", {});
  expect(groups("{max: 900}").config.groups).toEqual([{ name: "oven", room: { max: 900 } }]);
  expect(groups("{}").config.groups).toEqual([{ name: "oven", room: {} }]);
  expect(mistakes(`heating: {${room}, group: oven, max: -1}`)).toEqual([
    expect.stringMatching(/^heating.max: must be/),
  ]);
  expect(problemsOf(() => groups("warm"))).toEqual([
    expect.stringContaining("must be true, false, or a mapping with max, in W"),
  ]);
});

test("a list holds several", () => {
  const { config } = read(`
heating:
  - {${room}, miner: rig-a}
  - {${room.replace("Den", "Hall")}, group: shelf}
`);
  expect(config.heating.map(({ name }) => name)).toEqual(["Den", "Hall"]);
});

test.each([
  ["{group: oven}", "heating.name: is missing"],
  [`{${room}}`, "heating: needs exactly one of group and miner"],
  [`{${room}, group: oven, miner: a}`, "heating: needs exactly one of group and miner"],
  [`{${room}, group: ofen}`, 'heating.group: there is no group "ofen"; did you mean "oven"?'],
  [`[{${room}, miner: b}]`, 'heating[0].miner: there is no miner "b"'],
  [`[{${room}, group: oven}, {${room}, group: shelf}]`, "heating[1].name: is also the name of heating[0]"],
  [`{${room}, group: oven, hysterese: 1}`, 'heating.hysterese: is not a known key; did you mean "hysteresis"?'],
  [`{${room.replace("21", "36")}, group: oven}`, "heating.target: must be at most 35"],
  [
    `{${room.replace("api: true", "topic: a/b")}, group: oven}`,
    "heating.roomTemperature.topic: needs the MQTT bridge: set mqtt in the configuration",
  ],
  [
    `{${room.replace("api: true", "")}, group: oven}`,
    "heating.roomTemperature: needs exactly one of url, topic and api",
  ],
  [
    `{${room.replace("api: true", "api: true, topic: a/b")}, group: oven}`,
    "heating.roomTemperature: needs exactly one of url, topic and api",
  ],
  [`{${room.replace("api: true", "topic: a/+")}, group: oven}`, "heating.roomTemperature.topic: must be one topic"],
  [
    `{${room.replace("api: true", "topic: a/b, headers: {a: b}")}, group: oven}`,
    "heating.roomTemperature: can have headers only with url",
  ],
  [`{${room.replace("api: true", "api: true, path: a")}, group: oven}`, "cannot have path with api"],
  [
    `{${room.replace("api: true", 'url: "http://a:b@c/"')}, group: oven}`,
    "heating.roomTemperature.url: must not contain a password",
  ],
  [
    `{${room.replace("api: true", 'url: "file:///etc"')}, group: oven}`,
    "heating.roomTemperature.url: must be a web address",
  ],
  ["7", "heating: must be a mapping of keys, or a list of them"],
])("heating: %s is a mistake, reported in one sentence", (text, words) => {
  expect(mistakes(`heating: ${text}`).join("\n")).toContain(words);
});

const mqtt = "mqtt: {broker: embedded}";

test("a room and a surplus may come from a topic once there is a broker, with a path into its JSON", () => {
  const { config } = read(`
${mqtt}
heating: {${room.replace("api: true", "topic: zigbee2mqtt/study, path: temperature")}, group: oven}
`);
  expect(config.heating[0]?.roomTemperature).toMatchObject({ topic: "zigbee2mqtt/study", path: "temperature" });
  const surplus = "follow: {name: Roof, group: shelf, surplus: {topic: evcc/site/gridPower}}";
  expect(mistakes(`${mqtt}\n${surplus}`)).toEqual([]);
  expect(mistakes(surplus)).toEqual(["follow.surplus.topic: needs the MQTT bridge: set mqtt in the configuration"]);
});

test("a surplus set over the API is never counted as import", () => {
  const said = "{name: Roof, group: shelf, surplus: {api: true}, measures: import}";
  expect(mistakes(`follow: ${said}`).join()).toContain("follow.measures: cannot be import with surplus.api");
  expect(mistakes(`follow: ${said.replace("api: true", 'url: "http://meter.local/"')}`)).toEqual([]);
});

test("a group serves one room or one surplus", () => {
  const text = `heating: {${room}, group: oven}\nfollow: {name: Roof, group: oven, surplus: {api: true}}`;
  expect(mistakes(text)).toEqual(["follow.group: is also the group of heating"]);
});

test("a rig may be named by its MAC before it is known", () => {
  expect(mistakes(`heating: {${room}, miner: 02a1b2c3d4e5}`)).toEqual([]);
});

test("a header may come from the environment, and counts as a secret where it does not", () => {
  const withHeader = (value: string) =>
    read(
      `heating: {name: Den, target: 21, group: oven, roomTemperature: {url: "http://a/", headers: {Authorization: "${value}"}}}`,
    );
  const { config, holdsSecret } = withHeader(`Bearer \${TOKEN}`);
  expect(config.heating[0]?.roomTemperature.headers).toEqual({ Authorization: "Bearer sesame" });
  expect(holdsSecret).toBe(false);
  expect(withHeader("Bearer sesame").holdsSecret).toBe(true);
});
