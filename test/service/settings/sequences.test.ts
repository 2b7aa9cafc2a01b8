import { afterEach, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { SettingsSection } from "../../../src/contract/settings.ts";
import { openStore } from "../../any-store.ts";
import { problem } from "../../errors.ts";
import { admin, closeSettingsBenches, openSettingsBench, type SettingsBench } from "./settings-bench.ts";

afterEach(closeSettingsBenches);

/** What may be saved or stand in the file; the last of each is wrong. */
const values = {
  display: [{ currency: "EUR" }, { currency: "SEK", locale: "sv-SE" }, { currency: "money" }],
  electricity: [{ price: 0.2 }, { price: 0.4 }, { price: -1, source: 1 }],
  heating: [
    { name: "Den", group: "den", target: 21, roomTemperature: { api: true } },
    [{ name: "Den", group: "den", target: 19, roomTemperature: { api: true } }],
    { name: "Den", group: "none", target: 21, roomTemperature: { api: true } },
  ],
  market: [
    { sources: [] },
    { sources: [{ type: "coingecko", coins: { BTC: "bitcoin" }, every: 3600 }] },
    { sources: 1 },
  ],
  poll: [{ interval: 3600 }, { interval: 1800 }, { interval: 0 }],
  scan: [{ every: 604_800, networks: ["127.0.0.1/32"] }, { add: "auto" }, { every: 1 }],
} as const satisfies Partial<Record<SettingsSection, readonly unknown[]>>;
type Tried = keyof typeof values;
const sections = Object.keys(values) as Tried[];

/** What the file may declare beside sections; rigs swap their addresses, and move to other groups. */
const lists = [
  { groups: [{ name: "den" }] },
  {
    groups: [
      { name: "den", electricity: { price: 0.7 } },
      { name: "attic", groups: [{ name: "row" }] },
    ],
    miners: [
      { address: "127.0.0.1:1", name: "One", group: "row" },
      { address: "127.0.0.1:2", name: "Two", electricity: { price: 0.9 } },
    ],
    pools: [{ name: "Main", url: "stratum+tcp://pool.example.com:3333", worker: "w", coin: "NEW" }],
    algorithms: [{ id: "new-hash", name: "NewHash", hashesPerDifficulty: 5 }],
    coins: [{ shortName: "NEW", name: "Newcoin", algorithm: "new-hash", profit: 1e-9 }],
    channels: [{ key: "phone", type: "ntfy", topic: "farm" }],
    hooks: [{ name: "door", secret: "the-secret-of-the-door" }],
    poolGroups: [{ name: "All", pools: ["Main"] }],
    users: [{ name: "guest", key: "the-key-of-a-guest", privilege: "view", groups: ["attic"] }],
    rules: [
      {
        name: "Silent",
        when: { all: [{ reading: "temperature", above: 90 }], for: 60 },
        do: [{ notify: "all", text: "hot" }],
      },
    ],
    templates: [{ name: "Wake", do: [{ action: "restart" }] }],
    schedules: [{ key: "day", weekly: { from: "06:00", to: "22:00" }, do: [{ notify: "phone", text: "day" }] }],
  },
  {
    groups: [{ name: "row" }, { name: "den" }],
    miners: [
      { address: "127.0.0.1:2", name: "One", group: "den" },
      { address: "127.0.0.1:1", name: "Two", interval: 60, tags: ["old"] },
      { address: "127.0.0.1:3" },
    ],
    pools: [{ name: "Main", url: "stratum+tcp://pool.example.com:3333", worker: "w", algorithm: "other-hash" }],
    algorithms: [{ id: "other-hash", name: "OtherHash", hashesPerDifficulty: 7 }],
    coins: [{ shortName: "NEW", name: "Renamed", algorithm: "other-hash" }],
    channels: [
      { key: "mail", type: "gotify", url: "https://gotify.example.com", token: "a-token" },
      { key: "phone", type: "ntfy", topic: "attic", from: "critical", groups: ["row"] },
    ],
    hooks: [
      { name: "door", secret: "another-secret-of-the-door" },
      { name: "bell", secret: "the-secret-of-the-bell" },
    ],
    rules: [
      {
        name: "Silent",
        when: { all: [{ reading: "temperature", above: 90 }], for: 90 },
        do: [{ notify: "all", text: "hot" }],
      },
    ],
    schedules: [{ key: "night", weekly: { from: "22:00", to: "06:00" }, do: [{ notify: "all", text: "night" }] }],
    maintenance: [{ name: "Cleaning", from: "2026-05-01T18:00:00Z", until: "2026-05-02T18:00:00Z", groups: ["row"] }],
  },
] as const;

const section = fc.constantFrom(...sections);
const steps = fc.array(
  fc.oneof(
    fc.record({ does: fc.constant("save" as const), section, value: fc.nat(2) }),
    fc.record({ does: fc.constant("reset" as const), section }),
    fc.record({ does: fc.constant("undo" as const), section }),
    fc.record({ does: fc.constant("file" as const), section, value: fc.constantFrom(0, 1, null) }),
    fc.record({ does: fc.constant("lists" as const), value: fc.nat(2) }),
    fc.record({ does: fc.constant("restart" as const) }),
  ),
  { minLength: 1, maxLength: 12 },
);
type Step = typeof steps extends fc.Arbitrary<readonly (infer S)[]> ? S : never;

interface File {
  readonly sections: Map<Tried, unknown>;
  lists: (typeof lists)[number];
}

const yamlOf = ({ sections: written, lists: declared }: File): string =>
  [...Object.entries(declared), ...written].map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`).join("");

/** What the parts make of the settings, as callers see it. */
async function pictureOf({ service }: SettingsBench) {
  const { sections: listed } = await service.listSettings({}, admin);
  const shown = listed.map(({ key, owner, value, effective, problem: why }) => ({ key, owner, value, effective, why }));
  const { display } = await service.about(admin);
  const rooms = (await service.listRooms({}, admin)).map(({ name, control }) => [name, control?.value]);
  const { now, currency } = await service.getPrices({}, admin);
  const { sources } = await service.getMarket({}, admin);
  const report = await service.getMoney({}, admin);
  const names = (list: readonly { name?: string | undefined }[]) => list.map(({ name }) => name);
  const { groupList } = await service.listMiners({}, admin);
  const rigs = groupList.flatMap(({ id, name, minerList }) => [
    [id, name],
    ...minerList.map((rig) => [rig.id, rig.name, rig.hostDescription, rig.groupId, rig.tags, rig.money?.costPerDay]),
  ]);
  const declared = {
    rigs: rigs.sort(),
    pools: (await service.listPools({}, admin)).list,
    algorithms: await service.listAlgorithms({}, admin),
    coins: (await service.getMarket({}, admin)).coins,
    channels: await service.listChannels({}, admin),
    hooks: ["door", "bell"].map((name) => service.hookDigest?.(name)),
    groups: (await service.listGroups({}, admin)).map(({ id, name, parentId }) => [id, name, parentId]),
    users: names(await service.listUsers({}, admin)),
    rules: (await service.listRules({}, admin)).rules.map(({ id, problem, definition }) => [id, problem, definition]),
    schedules: names(await service.listSchedules({}, admin)),
    maintenance: names(await service.listMaintenance({}, admin)),
    templates: names((await service.listManagedTemplates({}, admin)).managedTemplateList),
  };
  return {
    declared,
    shown,
    display,
    rooms,
    now,
    currency,
    sources: sources.map(({ type }) => type),
    counted: report.currency,
  };
}

async function take(step: Step, bench: SettingsBench, file: File): Promise<void> {
  const { service } = bench;
  if (step.does === "restart") return bench.restart();
  if (step.does === "file" || step.does === "lists") {
    if (step.does === "lists") file.lists = lists[step.value] ?? file.lists;
    else if (step.value === null) file.sections.delete(step.section);
    else file.sections.set(step.section, values[step.section][step.value]);
    bench.write(yamlOf(file));
    await service.reloadSettings({}, admin);
    return;
  }
  const { section: key } = step;
  const change =
    step.does === "save"
      ? service.saveSettings({ section: key, value: values[key][step.value] }, admin)
      : step.does === "reset"
        ? service.resetSettings({ section: key }, admin)
        : service.undoSettings({ section: key }, admin);
  const isWrong = step.does === "save" && step.value === 2;
  const owner = file.sections.has(key) ? "file" : "store";
  if (owner === "file") expect((await problem(change)).code).toBe("owned.by-file");
  else if (isWrong) expect((await problem(change)).code).toBe("input.invalid");
  else await change.catch((error: { code?: string }) => expect(error.code).toBe("nothing.to.do"));
}

test("whatever was saved, removed, undone, reloaded and restarted: all parts are as after a fresh start", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (some) => {
      const store = await openStore({ file: ":memory:", now: Date.now });
      const file: File = { sections: new Map(), lists: lists[0] };
      const bench = await openSettingsBench(yamlOf(file), { store, fixed: "" });
      try {
        for (const step of some) await take(step, bench, file);
        const before = await pictureOf(bench);
        await bench.restart();
        expect(before).toEqual(await pictureOf(bench));
      } finally {
        await closeSettingsBenches();
        await store.close();
      }
    }),
    { numRuns: 25 },
  );
});
