import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { defaultConfig, type ReadConfig, readConfig } from "../../src/config/index.ts";
import { RigbridgeError } from "../../src/contract/problems.ts";
import { drivers } from "../../src/link/drivers/index.ts";

let folder = "";
let file = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "rigbridge-config-"));
  file = join(folder, "rigbridge.yaml");
});
afterAll(() => rm(folder, { recursive: true }));

async function read(text: string, env: Record<string, string> = {}, mode = 0o600): Promise<ReadConfig> {
  await writeFile(file, text);
  await chmod(file, mode);
  return readConfig(file, env);
}

/** The mistakes, without the file's name. */
async function mistakes(text: string, env: Record<string, string> = {}): Promise<string[]> {
  try {
    await read(text, env);
  } catch (error) {
    if (!(error instanceof RigbridgeError)) throw error;
    expect(error.code).toBe("config.invalid");
    return error.errors.map(({ path, message }) => `${path}: ${message}`.replace(/^rigbridge\.yaml:/, ""));
  }
  return [];
}

const twoLines = (first: string, second: string): string => `${first}\n${second}\n`;

describe("a valid configuration", () => {
  test("merges mappings (<<), also of keys that begin with x-", async () => {
    const { config } = await read(
      ["x-hall: &hall { interval: 30, tags: [hall] }", "miners:", "  - { <<: *hall, address: 10.0.0.1 }"].join("\n") +
        "\n  - { <<: *hall, address: 10.0.0.2, interval: 60 }\n",
    );
    expect(config.miners).toMatchObject([
      { address: "10.0.0.1", interval: 30, tags: ["hall"] },
      { address: "10.0.0.2", interval: 60, tags: ["hall"] },
    ]);
    expect(await mistakes("x-word: &word hall\nminers:\n  - <<: *word\n    address: 10.0.0.1\n")).toEqual([
      "3: << takes an alias of a mapping",
    ]);
  });

  test("names logins that a search tries, each for a kind of rig", async () => {
    const logins = "logins: [{ name: ant, driver: antminer, password: x }, { name: any, password: y }]\n";
    expect(await mistakes(`${logins}scan: { add: auto, logins: [ant] }\n`)).toEqual([]);
    expect(await mistakes(`${logins}scan: { add: auto, logins: [any, at] }\n`)).toEqual([
      '2: scan.logins[1]: there is no login "at"; did you mean "ant"?',
      "2: scan.logins[0]: needs a driver in its login: it is tried only there",
    ]);
  });

  test("has defaults for groups and ranges, whose names and addresses are checked", async () => {
    const text = "logins: [{ name: ant, password: x }]\ngroups: [{ name: Hall }]\ndefaults:\n";
    const { config } = await read(`${text}  - { group: Hall, range: 10.1.0.0/16, login: ant, interval: 30 }\n`);
    expect(config.defaults).toEqual([{ group: "Hall", range: "10.1.0.0/16", login: "ant", interval: 30 }]);
    expect(
      await mistakes(`${text}  - { group: Hal, range: 10.1.0, login: any }\n  - { range: 10.0.0.1:80 }\n`),
    ).toEqual([
      '4: defaults[0].group: there is no group "Hal"; did you mean "Hall"?',
      '4: defaults[0].login: there is no login "any"; did you mean "ant"?',
      expect.stringMatching(/^4: defaults\[0\]\.range: "10\.1\.0" is not written as /),
      "5: defaults[1].range: takes no port",
    ]);
  });

  test("may be empty, and then holds the defaults with the store beside the file", async () => {
    const { config, warnings } = await read("# nothing yet\n");
    expect(config).toMatchObject({ http: { host: "127.0.0.1", port: 17790 }, miners: [], poll: { interval: 10 } });
    expect(config.store.url).toBe(join(folder, "rigbridge.db"));
    expect(warnings).toEqual([]);
  });

  test("may have empty sections", async () => {
    const { config } = await read(twoLines("http:", "miners:"));
    expect(config.http.port).toBe(17790);
    expect(config.miners).toEqual([]);
  });

  test("keeps an absolute path of the store", async () => {
    const { config } = await read("store: { url: /var/lib/rigbridge/farm.db }");
    expect(config.store.url).toBe("/var/lib/rigbridge/farm.db");
  });

  test("may use anchors and aliases", async () => {
    const { config } = await read(
      "miners:\n  - { address: 10.0.0.1, tags: &t [a, b] }\n  - { address: 10.0.0.2, tags: *t }\n",
    );
    expect(config.miners[1]?.tags).toEqual(["a", "b"]);
  });
});

describe("each mistake is reported with its path and line", () => {
  const rows: [string, string, unknown[]][] = [
    ["an unknown key", "htp:\n  port: 1", ['1: htp: is not a known key; did you mean "http"?']],
    [
      "an unknown key deep inside",
      "groups:\n  - name: a\n    groups:\n      - nane: b",
      ['4: groups[0].groups[0].nane: is not a known key; did you mean "name"?'],
    ],
    [
      "an unknown key that resembles none",
      "poll:\n  frequency: 5",
      ["2: poll.frequency: is not a known key; known here: interval, timeout, workers, nameplates, makersLogins"],
    ],
    [
      "an unknown key of a place",
      "miners:\n  - address: a1\n    location: { row: x }",
      ["3: miners[0].location.row: is not a known key; known here: site, container, rack, slot"],
    ],
    ["a missing key", "miners:\n  - name: a\n", ["2: miners[0].address: is missing"]],
    [
      "text for a number",
      'http:\n  port: "1"',
      [`2: http.port: must be a number, is text; write it without quotes (\${VARIABLE} is always text)`],
    ],
    [
      "a number for text",
      "miners:\n  - address: 5",
      ["2: miners[0].address: must be text, is a number; put it in quotes"],
    ],
    ["a list for a mapping", "http: [1]", ["1: http: must be a mapping of keys, is a list"]],
    ["something else than a mapping", "- a\n- b", ["1: must be a mapping of keys, is a list"]],
    ["a number out of range", "poll:\n  interval: 0", ["2: poll.interval: must be at least 1"]],
    [
      "a word that is not known",
      "poll:\n  workers: many",
      ["2: poll.workers: must be auto or a whole number from 0 to 64"],
    ],
    ["a fraction", "http:\n  port: 1.5", ["2: http.port: must be a whole number"]],
    [
      "a word out of a list",
      "users:\n  - { name: a, privilege: king }",
      ["2: users[0].privilege: must be one of administrator, control, view"],
    ],
    [
      "an unknown driver",
      "miners:\n  - address: a1\n    driver: nothing",
      [`3: miners[0].driver: must be one of ${drivers.map(({ id }) => id).join(", ")}`],
    ],
    [
      "a misspelt driver, plug and privilege",
      "miners:\n  - { address: a1, driver: axoes, supply: { type: shely, address: a2 } }\nusers:\n  - { name: a, privilege: kontrol }",
      [
        `2: miners[0].driver: must be one of ${drivers.map(({ id }) => id).join(", ")}; did you mean "axeos"?`,
        '2: miners[0].supply.type: must be one of shelly, tasmota, mqtt; did you mean "shelly"?',
        '4: users[0].privilege: must be one of administrator, control, view; did you mean "control"?',
      ],
    ],
    [
      "a misspelt type of a channel, beside its other mistakes",
      'channels:\n  - type: nfty\n    from: loud\n    groups: []\n    quiet: { from: "7" }',
      [
        expect.stringMatching(/^2: channels\[0\]\.type: must be one of ntfy, .*; did you mean "ntfy"\?$/),
        "2: channels[0].key: is missing",
        "3: channels[0].from: must be one of info, warning, critical",
        "4: channels[0].groups: needs at least 1 of them",
        "5: channels[0].quiet.from: must be a time such as 22:00",
        "5: channels[0].quiet.to: is missing",
      ],
    ],
    [
      "quotes around true, a comma in a number, and text for a number",
      'http:\n  open: "true"\nelectricity:\n  price: 0,25\npoll:\n  interval: often',
      [
        `2: http.open: must be true or false, is text; write it without quotes (\${VARIABLE} is always text)`,
        "4: electricity.price: must be a number, is text; use a decimal point instead of the comma",
        `6: poll.interval: must be a number, is text (quotes and \${VARIABLE} make it text)`,
      ],
    ],
    [
      "a mapping for a list",
      "miners:\n  address: a1",
      ['1: miners: must be a list, is a mapping of keys; each entry begins with "- "'],
    ],
    [
      "a required key that is misspelt, once, and one that is missing beside",
      "miners:\n  - adress: a1\ngroups:\n  - groups: []\n    colour: x",
      [
        '2: miners[0].adress: is not a known key; did you mean "address"?',
        "4: groups[0].name: is missing",
        "5: groups[0].colour: is not a known key; known here: name, room, electricity, groups",
      ],
    ],
    [
      "keys that are not indented below their section",
      "http:\nport: 1\nhost: a\nminers:\n  - address: a1\n    location:\n    site: x",
      [
        "2: port: is not indented; it belongs under http",
        "3: host: is not indented; it belongs under http",
        "7: miners[0].site: is not indented; it belongs under location",
      ],
    ],
    ["a short key", "http:\n  key: short", ["2: http.key: needs at least 16 characters"]],
    [
      "an unknown locale",
      "display:\n  locale: xx-nowhere",
      ["2: display.locale: is not a known locale; use one such as en-US or sv-SE"],
    ],
    [
      "a bad proxy",
      "http:\n  trustedProxies: [me]",
      ["2: http.trustedProxies[0]: must be an IP address or a range such as 10.0.0.0/8"],
    ],
    [
      "a malformed broker",
      "mqtt:\n  url: x",
      ["2: mqtt.url: must be like mqtt://192.168.1.2:1883; mqtts, ws and wss work too"],
    ],
    [
      "malformed networks",
      "scan:\n  networks:\n    - 192.168.1.0/24\n    - rig.local\n    - fe80::/64\n    - 8.8.8.8\n    - 10.0.0.0/15",
      [
        '4: scan.networks[1]: "rig.local" is not written as 192.168.1.0/24, 192.168.1.10-192.168.1.80 or one address, with :port if need be',
        '5: scan.networks[2]: "fe80::/64" is IPv6; only IPv4 networks can be searched, since no IPv6 network is small enough',
        "6: scan.networks[3]: has addresses that are not private; such networks are searched only on request, not automatically",
        "7: scan.networks[4]: has 131,070 addresses; at most 65,536 are searched automatically",
      ],
    ],
    [
      "networks that are too large together",
      "scan:\n  networks: [10.1.0.0/16, 10.2.0.0/24]\n  every: 600",
      ["2: scan.networks: has 65,788 addresses; at most 65,536 are searched automatically"],
    ],
    ["a search too often", "scan:\n  every: 10", ["2: scan.every: must be at least 60"]],
    [
      "another database",
      "store:\n  url: mysql://db",
      ["2: store.url: must be the name of a file, or the URL of a PostgreSQL database"],
    ],
    [
      "a database without its site",
      "store:\n  url: postgres://db/rigbridge",
      ["1: store.site: is required with a PostgreSQL database: the name of the site that it is for"],
    ],
    [
      "the site of a file, and its loss",
      "store:\n  url: rigbridge.db\n  site: barn\n  allowLoss: true",
      [
        "3: store.site: is only for a store in a PostgreSQL database",
        "4: store.allowLoss: is only for a store in a PostgreSQL database",
      ],
    ],
    [
      "a bad address",
      "miners:\n  - address: rig:99999",
      ['2: miners[0].address: "rig:99999" has a port that is not between 1 and 65535'],
    ],
    [
      "one address in two spellings",
      "miners:\n  - address: Rig.local\n  - address: http://rig.local/",
      ["3: miners[1].address: is also the address of miners[0]"],
    ],
    [
      "a uid twice",
      "miners:\n  - { address: a1, uid: x }\n  - { address: a2, uid: x }",
      ["3: miners[1].uid: is also the uid of miners[0]"],
    ],
    [
      "an unknown group",
      "groups:\n  - name: garage\nminers:\n  - { address: a1, group: garag }",
      ['4: miners[0].group: there is no group "garag"; did you mean "garage"?'],
    ],
    [
      "a group twice, one inside another",
      "groups:\n  - name: a\n    groups:\n      - name: a",
      ["4: groups[0].groups[0].name: is also the name of groups[0]"],
    ],
    [
      "a pool twice",
      'pools:\n  - { name: a, url: "p:1" }\n  - { name: a, url: "p:2" }',
      ["3: pools[1].name: is also the name of pools[0]"],
    ],
    [
      "a pool group of unknown pools",
      "poolGroups:\n  - name: g\n    pools:\n      - nobody",
      ['4: poolGroups[0].pools[0]: there is no pool "nobody"'],
    ],
    [
      "a template for a pool that is not there",
      "templates:\n  - name: t\n    do:\n      - pool: Mian\n      - { set: fan, value: 40, speed: 3 }\n      - notify: phone",
      [
        '4: templates[0].do[0].pool: there is no pool "Mian"',
        "5: templates[0].do[1].speed: is not a known key; known here: pool, poolGroup, set, value, action, orReboot, pool_type, " +
          "pool_id, property, watts, mode, on, surplus, temperature",
        "6: templates[0].do[2]: is not a known step; there are pool, poolGroup, set, action",
      ],
    ],
    [
      "a site that is not there, in each section that names sites",
      [
        "sites: [{ name: Barn, url: 'http://127.0.0.1:1' }]",
        "rules: [{ key: r, runsAt: [Ban, here], do: [{ action: stop }] }]",
        "schedules: [{ key: s, runsAt: [all, Shed], cron: '0 3 * * *', do: [{ action: stop }] }]",
        "maintenance: [{ name: w, until: '2100-01-01T00:00:00Z', runsAt: [Shed], racks: [r1] }]",
        "pools: [{ name: p, url: 'p:1', runsAt: [Barn, Shed] }]",
        "poolGroups: [{ name: g, pools: [p], runsAt: [Shed] }]",
        "templates: [{ name: t, runsAt: [Shed] }]",
      ].join("\n"),
      [
        '2: rules[0].runsAt[0]: there is no site "Ban"; did you mean "Barn"?',
        '3: schedules[0].runsAt[1]: there is no site "Shed"',
        '4: maintenance[0].runsAt[0]: there is no site "Shed"',
        '5: pools[0].runsAt[1]: there is no site "Shed"',
        '6: poolGroups[0].runsAt[0]: there is no site "Shed"',
        '7: templates[0].runsAt[0]: there is no site "Shed"',
      ],
    ],
    [
      "a pool group without pools",
      "poolGroups:\n  - { name: g, pools: [] }",
      ["2: poolGroups[0].pools: needs at least one pool"],
    ],
    [
      "an unknown algorithm, of a pool and of a coin",
      'pools:\n  - { name: p, url: "p:1", algorithm: "RX/0" }\n  - { name: q, url: "q:1", algorithm: sha265 }\nalgorithms:\n  - { id: house, name: House, hashesPerDifficulty: 7 }\ncoins:\n  - { shortName: A, name: A, algorithm: House }\n  - { shortName: B, name: B, algorithm: nonsense }',
      [
        '3: pools[1].algorithm: there is no algorithm "sha265"; did you mean "sha256"?',
        '8: coins[1].algorithm: there is no algorithm "nonsense"',
      ],
    ],
    [
      "a user's unknown group",
      "users:\n  - { name: u, groups: [g] }",
      ['2: users[0].groups[0]: there is no group "g"'],
    ],
    [
      "a key that two users share",
      "users:\n  - { name: u, key: abcdefghijklmnop }\n  - { name: v, key: abcdefghijklmnop }",
      ["3: users[1].key: is also the key of users[0]"],
    ],
    [
      "a service for everyone without a key",
      "http:\n  host: 0.0.0.0",
      [
        "2: http.host: 0.0.0.0 is reachable from other machines, but there is no key; set http.key, or http.open: true to allow everyone",
      ],
    ],
    ["a duplicate key", "poll:\n  interval: 5\npoll:\n  interval: 6", ["3: poll: is given twice"]],
    [
      "a duplicate key in a list",
      "miners:\n  - address: a1\n    name: a\n    name: b",
      ["4: miners[0].name: is given twice"],
    ],
  ];
  test.each(rows)("%s", async (_, text, expected) => {
    expect(await mistakes(text)).toEqual(expected);
  });

  test("all of them at once, in the order of the lines", async () => {
    const text = "poll:\n  interval: 0\nminers:\n  - name: a\n  - address: a b\nbogus: 1\npoll: {}\n";
    expect((await mistakes(text)).map((line) => line.split(": ", 2).join(" "))).toEqual([
      "4 miners[0].address",
      "5 miners[1].address",
      "6 bogus",
      "7 poll",
    ]);
  });
});

describe("invalid YAML is reported by its line", () => {
  test.each<[string, string, string[]]>([
    ["a tab", "http:\n\tport: 1", ["2: tabs cannot be used for indentation; use spaces"]],
    ["a line that is too deep", "http:\n  port: 1\n   host: x", ["3: the indentation does not match the lines above"]],
    [
      "a key beside neither the dash nor the first key",
      "miners:\n  - address: a1\n   name: x",
      ["3: the indentation does not match the lines above"],
    ],
    [
      "a first line that is indented",
      " http:\n  port: 1\npoll:\n  interval: 5",
      ["3: the indentation does not match the lines above"],
    ],
    [
      "a wrong indentation after another mistake, in their order",
      "http:\n  key: *nothing\npoll:\n  interval: 5\n   timeout: 2",
      ["2: text that begins with * or & needs quotes", "5: the indentation does not match the lines above"],
    ],
    ["an open quote", 'miners:\n  - address: "rig', ["2: a quote, bracket, comma or colon is missing"]],
    ["an alias of nothing", "http:\n  key: *nothing", ["2: text that begins with * or & needs quotes"]],
    ["an unknown tag", "http:\n  key: !x y", ["2: text that begins with ! needs quotes"]],
    [
      "a variable in flow style",
      `electricity: { price: \${P} }`,
      ["1: this is not expected here; text with special characters needs quotes"],
    ],
    ["a second document", "http: {}\n---\nhttp: {}", ["2: a second YAML document begins here; only one is allowed"]],
    [
      "aliases in a circle",
      "miners: &m\n  - *m\n",
      ["1: its anchors and aliases refer to each other in a circle or too many times"],
    ],
  ])("%s", async (_, text, expected) => {
    expect(await mistakes(text)).toEqual(expected);
  });

  test("aliases that multiply are refused", async () => {
    const levels = Array.from({ length: 9 }, (_, n) => `l${n + 1}: &l${n + 1} [${Array(9).fill(`*l${n}`).join(", ")}]`);
    expect(await mistakes(["l0: &l0 [a]", ...levels].join("\n"))).toEqual([
      "1: its anchors and aliases refer to each other in a circle or too many times",
    ]);
  });
});

describe("environment variables", () => {
  test("are replaced anywhere in a text", async () => {
    const text = `miners:\n  - address: \${RIG}:4028\n    password: a\${PW}b\n`;
    const { config } = await read(text, { RIG: "rig.local", PW: "$1" });
    expect(config.miners[0]).toMatchObject({ address: "rig.local:4028", password: "a$1b" });
  });

  test("are text even where the value looks like a number", async () => {
    const { config } = await read(`miners:\n  - { address: a1, password: '\${PW}' }`, { PW: "123456" });
    expect(config.miners[0]?.password).toBe("123456");
    expect(await mistakes(`http:\n  port: \${PORT}`, { PORT: "80" })).toEqual([
      `2: http.port: must be a number, is text; write it without quotes (\${VARIABLE} is always text)`,
    ]);
  });

  test("are replaced once: their values are not expanded again", async () => {
    const { config } = await read(`miners:\n  - { address: a1, password: '\${A}' }`, { A: `\${B}`, B: "b" });
    expect(config.miners[0]?.password).toBe(`\${B}`);
  });

  test("are left alone after a second $", async () => {
    const { config } = await read(`miners:\n  - { address: a1, password: '$\${A}$' }`);
    expect(config.miners[0]?.password).toBe(`\${A}$`);
  });

  test("that are not set are mistakes, all of them", async () => {
    expect(await mistakes(`http:\n  key: \${KEY}\nminers:\n  - address: \${RIG}`)).toEqual([
      "2: http.key: needs the environment variable KEY, which is not set",
      "4: miners[0].address: needs the environment variable RIG, which is not set",
    ]);
  });

  test("must have a name", async () => {
    expect(await mistakes(`http:\n  key: \${a-b}`)).toEqual([
      `2: http.key: has a \${ that is not followed by the name of an environment variable; write $\${ for a literal \${`,
    ]);
  });
});

describe("secrets", () => {
  test.each([
    'http: { key: "hunter2 hunter2" }',
    "http: { key: hunter2 }",
    "http: { key: *hunter2 }",
    "http:\n  key: !hunter2 x",
    'http: { key: "hunter2 }',
    "http: { key: hunter2: [ }",
    "http: { key: @hunter2 }",
    "miners:\n  - { address: a1, password: [hunter2] }",
    "miners:\n  - { address: a1, token: { hunter2x: 1 }, token: hunter2 }".replace("hunter2x", "x"),
    "users: [{ name: a, key: hunter2hunter2hunter2 }, { name: b, key: hunter2hunter2hunter2 }]",
    `http: { key: '\${SECRET}' }`,
  ])("are in no message: %s", async (text) => {
    const said = await mistakes(text, { SECRET: "hunter2" });
    expect(said).not.toEqual([]);
    expect(said.join("\n")).not.toContain("hunter2");
  });

  test("in a file that others can read give a warning", async () => {
    const { warnings } = await read("http: { key: abcdefghijklmnop }", {}, 0o644);
    expect(warnings).toEqual([expect.stringContaining("chmod 600")]);
  });

  test.each([
    ["a private file", "http: { key: abcdefghijklmnop }", 0o600],
    ["secrets from the environment", `http: { key: '\${KEY}' }`, 0o644],
    ["no secrets", "pools: [{ name: a, url: 'p:1', password: x }]", 0o644],
  ])("no warning for %s", async (_, text, mode) => {
    expect((await read(text, { KEY: "abcdefghijklmnop" }, mode)).warnings).toEqual([]);
  });
});

describe("a file that cannot be read", () => {
  test("is named", async () => {
    await expect(readConfig(join(folder, "nowhere.yaml"))).rejects.toMatchObject({
      code: "config.invalid",
      message: `${join(folder, "nowhere.yaml")} does not exist`,
    });
    await expect(readConfig(folder)).rejects.toThrow("is a folder; give the name of a file");
  });
});

describe("without a file", () => {
  test("the store is in the user's data folder", () => {
    expect(defaultConfig({ XDG_DATA_HOME: "/data" }).store.url).toBe("/data/rigbridge/rigbridge.db");
    expect(defaultConfig({ XDG_DATA_HOME: "relative" }).store.url).toMatch(
      /^\/.*\.local\/share\/rigbridge\/rigbridge\.db$/,
    );
    expect(defaultConfig({}).http).toMatchObject({ host: "127.0.0.1", port: 17790 });
  });
});
