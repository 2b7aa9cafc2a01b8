import { afterEach, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { SettingsSection } from "../../../src/contract/settings.ts";
import { openStore } from "../../../src/store/index.ts";
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

const section = fc.constantFrom(...sections);
const steps = fc.array(
  fc.oneof(
    fc.record({ does: fc.constant("save" as const), section, value: fc.nat(2) }),
    fc.record({ does: fc.constant("reset" as const), section }),
    fc.record({ does: fc.constant("undo" as const), section }),
    fc.record({ does: fc.constant("file" as const), section, value: fc.constantFrom(0, 1, null) }),
    fc.record({ does: fc.constant("restart" as const) }),
  ),
  { minLength: 1, maxLength: 12 },
);
type Step = typeof steps extends fc.Arbitrary<readonly (infer S)[]> ? S : never;

const yamlOf = (file: ReadonlyMap<Tried, unknown>): string =>
  `groups: [{name: den}]\n${[...file].map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`).join("")}`;

/** What the parts make of the settings, as callers see it. */
async function pictureOf({ service }: SettingsBench) {
  const { sections: listed } = await service.listSettings({}, admin);
  const shown = listed.map(({ key, owner, value, effective, problem: why }) => ({ key, owner, value, effective, why }));
  const { display } = await service.about(admin);
  const rooms = (await service.listRooms({}, admin)).map(({ name, control }) => [name, control?.value]);
  const { now, currency } = await service.getPrices({}, admin);
  const { sources } = await service.getMarket({}, admin);
  const report = await service.getMoney({}, admin);
  return { shown, display, rooms, now, currency, sources: sources.map(({ type }) => type), counted: report.currency };
}

async function take(step: Step, bench: SettingsBench, file: Map<Tried, unknown>): Promise<void> {
  const { service } = bench;
  if (step.does === "restart") return bench.restart();
  if (step.does === "file") {
    if (step.value === null) file.delete(step.section);
    else file.set(step.section, values[step.section][step.value]);
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
  const owner = file.has(key) ? "file" : "store";
  if (owner === "file") expect((await problem(change)).code).toBe("owned.by-file");
  else if (isWrong) expect((await problem(change)).code).toBe("input.invalid");
  else await change.catch((error: { code?: string }) => expect(error.code).toBe("nothing.to.do"));
}

test("whatever was saved, removed, undone, reloaded and restarted: all parts are as after a fresh start", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (some) => {
      const store = await openStore({ file: ":memory:", now: Date.now });
      const file = new Map<Tried, unknown>();
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
