import { afterEach, expect, test } from "@jest/globals";
import { startFarm } from "../../../src/simulator/index.ts";
import { onTestFinished } from "../../finished.ts";
import { until } from "../../until.ts";
import { closeBenches, openBench } from "../bench.ts";
import { closeLoopBenches, openLoopBench } from "../loop-bench.ts";
import { openDouble } from "../notifications/doubles.ts";
import { admin, closeSettingsBenches, openSettingsBench } from "./settings-bench.ts";

afterEach(async () => {
  await closeBenches();
  await closeLoopBenches();
  await closeSettingsBenches();
});

const axeos = { kind: "axeos", warm: true } as const;

test("rigs are read at another interval, beside a command that is under way, and keep their readings", async () => {
  const bench = await openBench({ rigs: [axeos, axeos] });
  const ids = [await bench.add(bench.rig(0).address), await bench.add(bench.rig(1).address)];
  const before = await Promise.all(ids.map((id) => bench.get(id)));
  const asked = bench.farm.rigs.map(({ requests }) => requests.count);
  const command = bench.act(ids[0] ?? 0, { action: "restart" });
  const { effects } = await bench.service.saveSettings({ section: "poll", value: { interval: 1 } }, admin);
  expect(effects).toEqual(["Rigs without an interval of their own are read every 1 s instead of every 3600 s"]);
  expect(await command).toMatchObject({ success: true });
  const [, after] = await Promise.all(ids.map((id) => bench.get(id)));
  expect(after?.statusInfo.statusDisplay).toBe("Mining");
  expect(after?.readings.startedAt).toBe(before[1]?.readings.startedAt);
  await until(
    () => bench.farm.rigs.every(({ requests }, index) => requests.count > (asked[index] ?? 0) + 3),
    "more reads of both rigs",
  );
});

test("other threads take over the rigs with their readings, beside a command that is under way", async () => {
  const bench = await openBench({ rigs: [axeos, axeos] });
  const ids = [await bench.add(bench.rig(0).address), await bench.add(bench.rig(1).address)];
  const before = await Promise.all(ids.map((id) => bench.get(id)));
  const asked = bench.farm.rigs.map(({ requests }) => requests.count);
  for (const workers of [2, 1, 0]) {
    const command = bench.act(ids[0] ?? 0, { action: "set", property: "fan", value: `${50 + workers}` });
    const { section } = await bench.service.saveSettings(
      { section: "poll", value: { interval: 3600, workers } },
      admin,
    );
    expect(section.restart).toBe(false);
    expect(await command).toMatchObject({ success: true });
    await until(() => bench.service.workers?.().length === workers, "the threads");
    const after = await bench.get(ids[1] ?? 0);
    expect(after.readings).toEqual(before[1]?.readings);
    expect(after.statusInfo.statusDisplay).toBe("Mining");
    expect((await bench.poll(ids[0] ?? 0)).statusInfo.statusDisplay).toBe("Mining");
  }
  // The rig without commands was not read again.
  expect(bench.farm.rigs[1]?.requests.count).toBe(asked[1]);
});

test("rigs that the file adds and drops come and go, and the others keep their readings and their history", async () => {
  const rigs = await startFarm({ rigs: [axeos, axeos, axeos] });
  onTestFinished(() => rigs.close());
  const [kept = "", dropped = "", added = ""] = rigs.rigs.map(({ address }) => address);
  const yaml = (...lines: string[]) => ["groups: [{name: den}, {name: attic}]", "miners:", ...lines].join("\n");
  const bench = await openSettingsBench(
    yaml(`  - {address: "${kept}", name: Kept}`, `  - {address: "${dropped}", name: Dropped, group: den}`),
  );
  const listed = async () =>
    (await bench.service.listMiners({}, admin)).groupList.flatMap(({ name, minerList }) =>
      minerList.map((miner) => ({ group: name, ...miner })),
    );
  const mining = async (count: number) => {
    const list = await listed();
    return list.length === count && list.every(({ statusInfo }) => statusInfo.statusDisplay === "Mining");
  };
  await until(() => mining(2), "both rigs to be read");
  const before = await listed();
  const asked = rigs.rigs[0]?.requests.count;
  bench.write(yaml(`  - {address: "${kept}", name: Kept}`, `  - {address: "${added}", name: Added, group: attic}`));
  expect(await bench.service.reloadSettings({}, admin)).toEqual({ changed: ["miners"], message: "Changed: miners" });
  await until(() => mining(2), "the added rig to be read");
  const after = await listed();
  const of = (list: typeof after, name: string) => list.find((each) => each.name === name);
  expect(of(after, "Kept")).toEqual({ ...of(before, "Kept"), updatedUtc: of(after, "Kept")?.updatedUtc });
  expect(rigs.rigs[0]?.requests.count).toBe(asked);
  expect(of(after, "Dropped")).toBeUndefined();
  expect(of(after, "Added")).toMatchObject({ group: "attic", hostDescription: added });
  bench.write(yaml(`  - {address: "${kept}", name: Kept}`));
  await bench.service.reloadSettings({}, admin);
  expect((await listed()).map(({ name }) => name)).toEqual(["Kept"]);
  // A rig that comes back is the same as before.
  bench.write(yaml(`  - {address: "${dropped}", name: Back}`, `  - {address: "${kept}", name: Kept}`));
  await bench.service.reloadSettings({}, admin);
  await until(() => mining(2), "the rig to be read again");
  expect(of(await listed(), "Back")?.id).toBe(of(before, "Dropped")?.id);
});

test("a rule that did not change acts on the rig that has its name now", async () => {
  const rigs = await startFarm({ rigs: [axeos, axeos] });
  onTestFinished(() => rigs.close());
  const yaml = (...names: string[]) =>
    [
      "miners:",
      ...rigs.rigs.map(({ address }, index) => `  - {address: "${address}", name: ${names[index]}}`),
      "rules:",
      "  - {key: quiet, scope: {miners: [Attic]}, when: {all: [{reading: power, above: 1}]}, do: [{action: stop}]}",
    ].join("\n");
  const bench = await openSettingsBench(yaml("Attic", "Cellar"));
  const mining = () => rigs.rigs.map(({ model }) => model.mining);
  await until(() => mining()[0] === false, "the rig called Attic to be stopped");
  expect(mining()).toEqual([false, true]);
  // The other rig is not read again before an hour; a new rule fires at a turn, after which only changes count.
  const probe = {
    key: "probe",
    scope: { miners: ["Cellar"] },
    when: { all: [{ reading: "power", above: 1 }] },
    do: [{ notify: "all", text: "it mines" }],
  };
  await bench.service.addRule(probe as never, admin);
  const notified = async () => (await bench.service.listNotifications({}, admin)).notificationList.length;
  await until(async () => (await notified()) > 0, "a turn of the rules");
  bench.write(yaml("Cellar", "Attic"));
  await bench.service.reloadSettings({}, admin);
  await until(() => mining()[1] === false, "the rig that is called Attic now to be stopped");
});

test("channels and hooks come and go with the file, while a message is under way and rules that name them are watched", async () => {
  const answers: (() => void)[] = [];
  const { heard, url } = await openDouble((response) => void answers.push(() => response.end("ok")));
  const channel = (key: string) => `{key: ${key}, type: slack, url: "${url}/${key}"}`;
  const hook = (secret: string) => `hooks: [{name: door, secret: ${secret}}]`;
  const yaml = (keys: readonly string[], secret: string) => `channels: [${keys.map(channel).join()}]\n${hook(secret)}`;
  const bench = await openSettingsBench(yaml(["kept", "dropped"], "the-first-secret-of-it"));
  const { service } = bench;
  await service.addRule(
    { key: "bell", when: { all: [{ hook: "door" }] }, do: [{ notify: "dropped", text: "it rings" }] } as never,
    admin,
  );
  const digest = service.hookDigest?.("door");
  const sending = service.testChannel({ key: "kept" }, admin);
  await until(() => heard.length === 1, "the message to be under way");
  bench.write(yaml(["kept", "added"], "the-second-secret-of-it"));
  await service.reloadSettings({}, admin);
  answers[0]?.();
  expect(await sending).toMatchObject({ success: true });
  expect((await service.listChannels({}, admin)).map(({ key }) => key)).toEqual(["kept", "added"]);
  expect(service.hookDigest?.("door")).not.toBe(digest);
  const open = async () => (await service.listNotifications({}, admin)).notificationList.map(({ message }) => message);
  expect(await open()).toEqual([expect.stringContaining("names the channel dropped, which no longer exists")]);
  bench.write(yaml(["kept", "dropped"], "the-second-secret-of-it"));
  await service.reloadSettings({}, admin);
  expect(await service.listNotifications({}, admin)).toMatchObject({
    notificationList: [{ closedUtc: expect.any(String) }],
  });
});

test("the maker's login is tried, or no longer, and rigs are shown all the while", async () => {
  const bench = await openBench({ rigs: [{ kind: "antminer", warm: true }] });
  const id = await bench.add(bench.rig(0).address);
  const tryMakersLogins = async (makersLogins: boolean) => {
    await bench.service.saveSettings({ section: "poll", value: { interval: 3600, makersLogins } }, admin);
    const shown = [await bench.get(id), await bench.poll(id)];
    expect(shown.map(({ statusInfo }) => statusInfo.statusDisplay)).toEqual(["Mining", "Mining"]);
  };
  const reboot = () => bench.act(id, { action: "reboot" });
  await tryMakersLogins(true);
  await tryMakersLogins(false);
  // Without a login it does not say which rig it is.
  await expect(reboot()).rejects.toMatchObject({ code: "rig.garbled" });
  await tryMakersLogins(true);
  expect(await reboot()).toMatchObject({ success: true });
});

test("the price of electricity, the currency and the rate are shown at once, and counted from then on", async () => {
  const bench = await openBench({ rigs: [axeos] });
  const id = await bench.add(bench.rig(0).address);
  const costs = async () => {
    const { costPerDay, currency } = (await bench.get(id)).money ?? {};
    return { costPerDay, currency };
  };
  expect(await costs()).toEqual({ costPerDay: 0, currency: "USD" });
  await bench.service.saveSettings({ section: "electricity", value: { price: 0.5 } }, admin);
  const first = await costs();
  expect(first.costPerDay).toBeGreaterThan(0);
  await bench.service.saveSettings({ section: "electricity", value: { price: 1 } }, admin);
  expect((await costs()).costPerDay).toBeCloseTo(2 * (first.costPerDay ?? 0), 6);
  await bench.service.saveSettings(
    { section: "display", value: { currency: "SEK", locale: "sv-SE", timeZone: "UTC" } },
    admin,
  );
  expect((await costs()).currency).toBe("SEK");
  expect((await bench.service.getMoney({}, admin)).currency).toBe("SEK");
  expect((await bench.service.getPrices({}, admin)).now).toBe(1);
});

test("heating and a surplus begin, go on under other settings with what they know, and end", async () => {
  const bench = await openLoopBench({
    rigs: [axeos, axeos],
    clock: Date.now,
    config: (addresses) => ({
      groups: [{ name: "den" }, { name: "roof" }],
      miners: addresses.map((address, index) => ({
        address,
        name: `rig ${index}`,
        group: index === 0 ? "den" : "roof",
      })),
    }),
  });
  const heating = { name: "Den", group: "den", target: 21, roomTemperature: { api: true } };
  const rooms = async () => (await bench.service.listRooms({}, admin)).map(({ name }) => name);
  expect(await rooms()).toEqual([]);
  const begun = await bench.service.saveSettings({ section: "heating", value: heating }, admin);
  expect(begun.effects).toEqual(["The heating begins: Den"]);
  await bench.act(0, { action: "set_room_temperature", temperature: 20 });
  expect((await bench.miner(0)).heating).toMatchObject({ name: "Den", room: 20, target: 21 });
  const other = await bench.service.saveSettings(
    { section: "heating", value: { ...heating, target: 23, hysteresis: 1 } },
    admin,
  );
  expect(other.effects).toEqual(["The heating goes on with other settings: Den"]);
  expect((await bench.miner(0)).heating).toMatchObject({ room: 20, target: 23 });
  await bench.service.saveSettings(
    { section: "follow", value: { name: "Roof", group: "roof", surplus: { api: true } } },
    admin,
  );
  expect((await rooms()).toSorted()).toEqual(["Den", "Roof"]);
  const ended = await bench.service.resetSettings({ section: "heating" }, admin);
  expect(ended.effects).toEqual(["The heating ends, and its rigs stay as they are: Den"]);
  expect((await bench.miner(0)).heating).toBeNull();
  expect(await rooms()).toEqual(["Roof"]);
});

test("limits of steps and rules are those of now", async () => {
  const bench = await openBench();
  const rule = {
    key: "run",
    when: { all: [{ offline: true }] },
    do: [{ run: ["/bin/true"] }],
  };
  const add = () => bench.service.addRule(rule as never, admin);
  await expect(add()).rejects.toThrow("automation.programs");
  await bench.service.saveSettings({ section: "automation", value: { programs: true } }, admin);
  expect(await add()).toMatchObject({ key: "run" });
});

test("a setting that is saved while 200 commands are under way loses none of them", async () => {
  const rigs = Array.from({ length: 20 }, () => axeos);
  const bench = await openBench({ rigs });
  const ids = await Promise.all(bench.farm.rigs.map(({ address }) => bench.add(address)));
  const commands = Array.from({ length: 200 }, (_, index) =>
    bench.act(ids[index % ids.length] ?? 0, { action: "set", property: "fan", value: `${40 + (index % 50)}` }),
  );
  const values = [
    ["poll", { interval: 1800 }],
    ["electricity", { price: 0.4 }],
    ["power", { minOn: 61 }],
    ["display", { currency: "SEK", locale: "sv-SE", timeZone: "UTC" }],
    ["history", { raw: 3 }],
    ["automation", { programs: true }],
  ] as const;
  for (const [section, value] of values) await bench.service.saveSettings({ section, value }, admin);
  const replies = await Promise.all(commands);
  expect(replies.filter(({ success }) => !success)).toEqual([]);
  const { commandList } = await bench.service.listCommands({}, admin);
  expect(commandList.filter(({ action }) => action === "set").map(({ state }) => state)).toEqual(
    commands.map(() => "done"),
  );
});
