import { readFileSync } from "node:fs";
import { afterEach, describe, expect, test } from "@jest/globals";
import { settingsSections } from "../../../src/contract/settings.ts";
import { openStore } from "../../any-store.ts";
import { problem } from "../../errors.ts";
import { onTestFinished } from "../../finished.ts";
import { admin, closeSettingsBenches, openSettingsBench } from "./settings-bench.ts";

// depends on: docs/architecture.md

afterEach(closeSettingsBenches);

describe("each section has one owner", () => {
  test("the file's is shown with its line and refused; any other is saved, and is the store's until it is removed", async () => {
    const bench = await openSettingsBench("power: {minOn: 60}\n");
    expect(await bench.section("power")).toMatchObject({
      owner: "file",
      line: 3,
      value: { minOn: 60 },
      undoable: false,
    });
    const { code, message } = await problem(bench.save("power", { minOn: 1 }));
    expect([code, message]).toEqual([
      "owned.by-file",
      "power is declared by the configuration file (rigbridge.yaml, line 3); change it there, or remove it there to change it here",
    ]);
    expect(await bench.section("history")).toMatchObject({ owner: "default", line: null, value: null, revision: 0 });
    const reply = await bench.save("history", { raw: 3 });
    expect(reply).toMatchObject({
      changes: ["history.raw: 2 → 3"],
      saved: true,
      section: { owner: "store", revision: 1 },
    });
    expect(await bench.section("history")).toMatchObject({ value: { raw: 3 }, effective: { raw: 3, hourly: 730 } });
    await bench.service.resetSettings({ section: "history" }, admin);
    expect(await bench.section("history")).toMatchObject({ owner: "default", value: null, revision: 2 });
  });

  test("a section that comes to the file later takes over; what was saved is kept aside, and counts again after it", async () => {
    const bench = await openSettingsBench();
    await bench.save("history", { raw: 3 });
    bench.write("history: {raw: 7}\n");
    expect(await bench.service.reloadSettings({}, admin)).toEqual({
      changed: ["history"],
      message: "Changed: history",
    });
    const aside =
      "what was saved here is kept aside, because the configuration file has this section; it counts again when the file has it no longer";
    expect(await bench.section("history")).toMatchObject({ owner: "file", effective: { raw: 7 }, problem: aside });
    expect(bench.warned).toContain(`Settings of history have no effect: ${aside}`);
    bench.write("");
    await bench.service.reloadSettings({}, admin);
    expect(await bench.section("history")).toMatchObject({ owner: "store", effective: { raw: 3 }, problem: null });
  });

  test("what was saved and has become wrong is not used, and says why", async () => {
    const bench = await openSettingsBench("groups: [{name: den}]\n");
    const heating = { name: "Den", group: "den", target: 21, roomTemperature: { api: true } };
    await bench.save("heating", heating);
    bench.write("groups: [{name: attic}]\n");
    await bench.restart();
    expect(await bench.section("heating")).toMatchObject({
      owner: "store",
      effective: [],
      problem: 'heating.group: there is no group "den"',
    });
    bench.write("groups: [{name: den}]\n");
    await bench.restart();
    expect(await bench.section("heating")).toMatchObject({ effective: [heating], problem: null });
  });
});

describe("a save", () => {
  test("is checked with the whole configuration; all mistakes are named, and nothing changes", async () => {
    const bench = await openSettingsBench();
    const save = bench.save("heating", [
      { name: "Den", group: "nowhere", target: 50, roomTemperature: { topic: "room" }, colour: "red" },
      { name: "Den", miner: "none", target: 20, roomTemperature: { api: true } },
    ]);
    const { code, message } = await problem(save);
    expect(code).toBe("input.invalid");
    for (const part of [
      "heating[0].target: must be at most 35",
      "heating[0].colour: is not a known key",
      'heating[0].group: there is no group "nowhere"',
      "heating[0].roomTemperature.topic",
      "heating[1].name: is also the name of heating[0]",
      'heating[1].miner: there is no miner "none"',
    ])
      expect(message).toContain(part);
    expect(await bench.section("heating")).toMatchObject({ owner: "default", revision: 0 });
    expect(bench.store.settings.all()).toEqual([]);
  });

  test("of a group or miner that was added over the API is right", async () => {
    const bench = await openSettingsBench();
    await bench.service.addGroup({ name: "den", parentId: 0 }, admin);
    await bench.save("heating", { name: "Den", group: "den", target: 21, roomTemperature: { api: true } });
    expect((await bench.service.listRooms({}, admin)).map(({ name, control }) => [name, control?.value])).toEqual([
      ["Den", 21],
    ]);
  });

  test("with dryRun says what it would change and do, and changes nothing", async () => {
    const bench = await openSettingsBench();
    const reply = await bench.save("history", { raw: 1 }, { dryRun: true });
    expect(reply).toMatchObject({
      changes: ["history.raw: 2 → 1"],
      effects: ["Samples older than 1 days are deleted"],
      codedEffects: [{ code: "effect.samples", values: { days: 1 } }],
      saved: false,
    });
    expect(await bench.section("history")).toMatchObject({ owner: "default", effective: { raw: 2 } });
  });

  test("of what somebody else has saved meanwhile is refused with what differs", async () => {
    const bench = await openSettingsBench();
    await bench.save("history", { raw: 3 }, { revision: 0 });
    const { code, message } = await problem(bench.save("history", { raw: 4, hourly: 30 }, { revision: 0 }));
    expect([code, message]).toEqual([
      "settings.changed",
      "The section history was saved by another user in the meantime; read it again. The saved value differs from yours: history.raw: 3 → 4; history.hourly: nothing → 30",
    ]);
    await bench.save("history", { raw: 4 }, { revision: 1 });
  });

  test("of what is saved already changes nothing, and is no row of the activity", async () => {
    const bench = await openSettingsBench();
    await bench.save("history", { raw: 3 });
    expect(await bench.save("history", { raw: 3 })).toMatchObject({
      saved: false,
      changes: [],
      section: { revision: 1 },
    });
    const reset = await bench.service.resetSettings({ section: "power" }, admin);
    expect(reset).toMatchObject({ saved: false, section: { revision: 0, undoable: false } });
    expect((await bench.service.listCommands({}, admin)).commandList).toHaveLength(1);
  });

  test("is undone once, and twice is back where it was", async () => {
    const bench = await openSettingsBench();
    const { code } = await problem(bench.service.undoSettings({ section: "history" }, admin));
    expect(code).toBe("nothing.to.do");
    await bench.save("history", { raw: 3 });
    await bench.save("history", { raw: 4 });
    await bench.service.undoSettings({ section: "history" }, admin);
    expect(await bench.section("history")).toMatchObject({ effective: { raw: 3 } });
    await bench.service.undoSettings({ section: "history" }, admin);
    expect(await bench.section("history")).toMatchObject({ effective: { raw: 4 } });
  });

  test("is a row of the activity and an event", async () => {
    const bench = await openSettingsBench();
    const ending = new AbortController();
    onTestFinished(() => ending.abort());
    const events = bench.service.watchEvents({ types: ["settings"] }, admin, ending.signal);
    const first = events[Symbol.asyncIterator]().next();
    await bench.save("history", { raw: 3 });
    expect((await first).value).toMatchObject({ type: "settings", data: { sections: ["history"] } });
    const { commandList } = await bench.service.listCommands({}, admin);
    expect(commandList).toMatchObject([
      {
        action: "save_settings",
        actor: "test",
        state: "done",
        parameters: { section: "history", changes: "history.raw: 2 → 3" },
      },
    ]);
  });

  test("outlives a kill of the service once it was answered", async () => {
    const file = `/tmp/rigbridge-settings-${process.pid}.db`;
    const { rm } = await import("node:fs/promises");
    onTestFinished(() => rm(file, { force: true }));
    const store = await openStore({ file, now: Date.now });
    const bench = await openSettingsBench("", { store });
    await bench.save("history", { raw: 3 });
    await bench.service.close();
    await store.close();
    const again = await openStore({ file, now: Date.now });
    onTestFinished(() => again.close());
    const later = await openSettingsBench("", { store: again });
    expect(await later.section("history")).toMatchObject({ owner: "store", effective: { raw: 3 } });
    await later.close();
  });
});

describe("secrets", () => {
  const mqtt = { url: "mqtt://127.0.0.1:1", username: "rig", password: "a-very-secret-word" };

  test("are never given; left out or sent as they were listed they stay, and null removes them", async () => {
    const bench = await openSettingsBench();
    await bench.save("mqtt", mqtt);
    const listed = await bench.section("mqtt");
    expect(listed).toMatchObject({ value: { password: { set: true } }, effective: { password: { set: true } } });
    const stored = () => bench.store.settings.all()[0]?.value;
    const { password, ...rest } = mqtt;
    await bench.save("mqtt", rest);
    expect(stored()).toMatchObject({ password });
    await bench.save("mqtt", { ...rest, username: "other", password: { set: true } });
    expect(stored()).toMatchObject({ username: "other", password });
    const reply = await bench.save("mqtt", { ...rest, password: "another-secret-word" });
    expect(reply.changes).toEqual(['mqtt.username: "other" → "rig"', "mqtt: secrets differ"]);
    await bench.save("mqtt", { ...rest, username: undefined, password: null });
    expect(stored()).not.toHaveProperty("password");
    const said = JSON.stringify([
      await bench.service.listSettings({}, admin),
      await bench.service.listCommands({}, admin),
    ]);
    expect(said).not.toMatch(/secret-word/);
  });

  test("do not go along to another address", async () => {
    const bench = await openSettingsBench();
    await bench.save("mqtt", mqtt);
    const { changes } = await bench.save("mqtt", {
      url: "mqtt://127.0.0.1:2",
      username: "rig",
      password: { set: true },
    });
    expect(changes).toContain("mqtt: secrets differ");
    expect(bench.store.settings.all()[0]?.value).not.toHaveProperty("password");
  });

  test("undoing brings back the secret of that time", async () => {
    const bench = await openSettingsBench();
    await bench.save("mqtt", mqtt);
    await bench.save("mqtt", { url: mqtt.url, password: null, username: undefined });
    await bench.service.undoSettings({ section: "mqtt" }, admin);
    expect(bench.store.settings.all()[0]?.value).toMatchObject({ password: mqtt.password });
  });
});

test("every section is listed, and everything that parts do not follow waits for a restart and says so", async () => {
  const bench = await openSettingsBench("", { fixed: "poll: {interval: 3600}\n" });
  const { sections } = await bench.service.listSettings({}, admin);
  expect(sections.map(({ key }) => key)).toEqual([...settingsSections]);
  expect(sections.filter(({ restart }) => restart)).toEqual([]);
  const { section } = await bench.save("http", { port: 17791 });
  expect(section).toMatchObject({ restart: true, effective: { port: 17791 } });
  await bench.restart();
  expect(await bench.section("http")).toMatchObject({ restart: false });
});

test("docs/architecture.md shows which part follows which sections", async () => {
  const bench = await openSettingsBench();
  const text = readFileSync(new URL("../../../docs/architecture.md", import.meta.url), "utf8");
  const lines = bench.parts.map(({ name, sections }) => `    ${name.padEnd(29)} ${sections.join(", ")}`);
  expect(text).toContain(lines.join("\n"));
});
