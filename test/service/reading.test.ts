import { afterEach, describe, expect, test } from "@jest/globals";
import { MinerDetail } from "../../src/contract/resources.ts";
import { type FaultName, faults, type RigSpec } from "../../src/simulator/index.ts";
import { stoppedClock } from "../clock.ts";
import { problem, refusal } from "../errors.ts";
import { until } from "../until.ts";
import { closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

const pools = [
  { url: "stratum+tcp://one.example.com:3333", user: "acct.rig" },
  { url: "stratum+tcp://two.example.com:3333", user: "acct.rig" },
];

const kinds: { name: string; spec: RigSpec; said?: { token: string } }[] = [
  { name: "cgminer", spec: { kind: "cgminer", warm: true, pools } },
  { name: "cgminer that lets itself only be read", spec: { kind: "cgminer", privileged: false, warm: true } },
  { name: "bfgminer", spec: { kind: "cgminer", dialect: "bfgminer", warm: true } },
  { name: "Antminer", spec: { kind: "cgminer", dialect: "bmminer", warm: true } },
  { name: "USB sticks", spec: { kind: "cgminer", hardware: "sticks", warm: true } },
  { name: "Bitaxe", spec: { kind: "axeos", warm: true, pools } },
  { name: "Bitaxe without pause", spec: { kind: "axeos", pausable: false, warm: true } },
  {
    name: "XMRig",
    spec: { kind: "xmrig", token: "token-of-the-rig", restricted: false, warm: true },
    said: { token: "token-of-the-rig" },
  },
  { name: "restricted XMRig", spec: { kind: "xmrig", warm: true } },
  { name: "rig that starts", spec: { kind: "axeos" } },
];

describe.each(kinds)("a $name", ({ spec, said = {} }) => {
  test("is presented as in the contract, on, stale, disconnected and back again", async () => {
    const bench = await openBench({ rigs: [spec], config: { electricity: { price: 0.2 }, rates: { btc: 90_000 } } });
    const rig = bench.rig(0);
    const id = await bench.add(rig.address, said);
    const shown = MinerDetail.strict().parse(await bench.get(id));
    expect(shown.groupId).toBe(shown.groupID);
    expect(shown).toMatchObject({ isOffline: false, hasValidStatus: true, uid: expect.any(String) });
    expect(shown.readings.stale).toBe(false);
    expect(shown.speedInfo.hashrateValue).toBe(Math.round(shown.readings.hashrate ?? 0));

    rig.powerOff();
    const stale = MinerDetail.parse(await bench.poll(id));
    expect(stale.readings).toMatchObject({ stale: true, hashrate: shown.readings.hashrate });
    expect(stale.statusInfo.statusDisplay).toBe(shown.statusInfo.statusDisplay);
    await bench.poll(id);
    const gone = MinerDetail.parse(await bench.poll(id));
    expect(gone).toMatchObject({
      statusInfo: { statusDisplay: "Disconnected", statusLine3: null, secondsSinceStart: 0 },
      isOffline: true,
      hasValidStatus: false,
      isRunning: false,
      speedInfo: { hashrateValue: 0, avgHashrateValue: 0, hashrate: "0 H/s" },
      poolList: [],
      asicList: [],
      pgaList: [],
      gpuList: [],
      cpuList: [],
      readings: { hashrate: null, power: null, temperature: null, uptime: null, startedAt: null },
    });
    expect(gone.readings.boards.map(({ slot }) => slot)).toEqual(shown.readings.boards.map(({ slot }) => slot));
    expect(gone.readings.fans).toHaveLength(shown.readings.fans.length);
    expect(gone.controls.map(({ key }) => key)).toEqual(shown.controls.map(({ key }) => key));
    expect(gone.controls.every(({ value }) => value === null)).toBe(true);
    expect([gone.canReboot, gone.canStop, gone.canStart, gone.canRestart, gone.canPool]).not.toContain(true);

    await rig.powerOn();
    const back = MinerDetail.parse(await bench.poll(id));
    expect(back).toMatchObject({ isOffline: false, hasValidStatus: true, uid: shown.uid });
  });

  test("keeps its shape over a restart of the service while it is off", async () => {
    const bench = await openBench({ rigs: [spec] });
    const id = await bench.add(bench.rig(0).address, said);
    const before = await bench.get(id);
    bench.rig(0).powerOff();
    await bench.restart();
    const after = MinerDetail.parse(await bench.get(id));
    expect(after).toMatchObject({
      uid: before.uid,
      name: before.name,
      hardware: before.hardware,
      macAddress: before.macAddress,
      softwareType: before.softwareType,
      hostDescription: before.hostDescription,
      // Nobody has asked it yet.
      statusInfo: { statusDisplay: "Starting" },
      hasValidStatus: false,
      isOffline: false,
      readings: { stale: true, hashrate: null },
    });
    expect(after.controls).toEqual(before.controls.map((control) => ({ ...control, value: null })));
    expect(after.readings.boards).toHaveLength(before.readings.boards.length);
    expect(after.readings.fans).toHaveLength(before.readings.fans.length);
  });
});

describe("a miner is recognised once", () => {
  test("and from then on only read, also by the next run of the service", async () => {
    const bench = await openBench({ rigs: [{ kind: "axeos", warm: true }] });
    const id = await bench.add(bench.rig(0).address);
    const { requests } = bench.rig(0);
    const first = requests.count;
    await bench.poll(id);
    expect(requests.count - first).toBe(1);
    await bench.restart();
    const again = requests.count;
    await bench.poll(id);
    // What the chip can be set to is asked once a run.
    expect(requests.count - again).toBe(2);
  });

  test("and joined commands are kept to: one connection a read", async () => {
    const bench = await openBench({ rigs: [{ kind: "cgminer", warm: true }] });
    const id = await bench.add(bench.rig(0).address);
    await bench.poll(id);
    const { requests } = bench.rig(0);
    const before = requests.count;
    for (let read = 0; read < 5; read += 1) await bench.poll(id);
    expect(requests.count - before).toBe(5);
  });

  test("and called as it calls itself, until a person gives it a name", async () => {
    const bench = await openBench({ rigs: [{ kind: "axeos", name: "desk", warm: true }] });
    const id = await bench.add(bench.rig(0).address);
    expect((await bench.get(id)).name).toBe("desk");
    await bench.service.changeMiner({ id, name: "The one on the desk" }, { actor: "test" });
    expect((await bench.poll(id)).name).toBe("The one on the desk");
  });
});

describe("a rig that does not answer", () => {
  test("notifies once, at the third miss, and again only after the rig was back", async () => {
    const bench = await openBench({ rigs: [{ kind: "cgminer", warm: true }] });
    const id = await bench.add(bench.rig(0).address, { name: "garage" });
    const miss = async (times: number) => {
      for (let read = 0; read < times; read += 1) await bench.poll(id);
      return (await bench.notifications()).length;
    };
    bench.rig(0).powerOff();
    expect(await miss(2)).toBe(0);
    expect(await miss(1)).toBe(1);
    expect(await miss(5)).toBe(1);
    await bench.rig(0).powerOn();
    await bench.poll(id);
    bench.rig(0).powerOff();
    expect(await miss(3)).toBe(2);
    const { notificationList } = await bench.service.listNotifications({}, { actor: "test" });
    expect(notificationList[0]).toMatchObject({ minerName: "garage", source: "System", isWarning: true });
  });

  test("does not notify if that is expected", async () => {
    const bench = await openBench({ rigs: [{ kind: "cgminer", warm: true }] });
    const id = await bench.add(bench.rig(0).address, { offlineExpected: true });
    bench.rig(0).powerOff();
    for (let read = 0; read < 4; read += 1) await bench.poll(id);
    expect((await bench.get(id)).statusInfo.statusDisplay).toBe("Disconnected");
    expect(await bench.notifications()).toEqual([]);
  });

  test("counts in totalCount and in no other total", async () => {
    const bench = await openBench({
      rigs: [
        { kind: "axeos", warm: true },
        { kind: "axeos", warm: true },
      ],
    });
    const ids = [await bench.add(bench.rig(0).address), await bench.add(bench.rig(1).address)];
    const [here, gone] = ids;
    if (here === undefined || gone === undefined) throw new Error("two were added");
    bench.rig(1).powerOff();
    for (let read = 0; read < 3; read += 1) await bench.poll(gone);
    const one = await bench.poll(here);
    const summary = await bench.service.getSummary({}, { actor: "test" });
    const list = await bench.service.listMiners({}, { actor: "test" });
    expect(summary).toMatchObject({ totalCount: 2, runningCount: 1, asicCount: 1 });
    expect(list.totalHashrate5s).toBe(one.speedInfo.hashrate);
    expect(summary.algorithmList).toMatchObject([{ activeCount: 1, hashRate5s: one.speedInfo.hashrate }]);
  });
});

test("a rig that restarts for a command is not disconnected, and causes no alarm", async () => {
  const bench = await openBench({ rigs: [{ kind: "whatsminer", warm: true, restartSeconds: 3 }] });
  const id = await bench.add(bench.rig(0).address, { username: "admin", password: "admin" });
  let isOver = false;
  const told = bench.act(id, { action: "set", property: "power_limit", value: "3000" }).finally(() => {
    isOver = true;
  });
  const seen = new Set<string>();
  await until(async () => {
    const { statusInfo, readings } = await bench.get(id);
    seen.add(`${statusInfo.statusDisplay}${readings.stale ? ", stale" : ""}`);
    return isOver;
  }, "the power limit to be set");
  expect(await told).toMatchObject({ state: "done" });
  expect(seen).toContain("Mining, stale");
  expect(seen).not.toContain("Disconnected");
  expect(await bench.notifications()).toEqual([]);
});

describe("a rig that is not the one it should be", () => {
  test("the second with a MAC that is known is refused, with one notification", async () => {
    const mac = "02:51:00:00:00:77";
    const bench = await openBench({
      rigs: [
        { kind: "axeos", mac, warm: true },
        { kind: "axeos", mac, warm: true },
      ],
    });
    const first = await bench.add(bench.rig(0).address);
    // Which of the two is recognised first is otherwise chance.
    await bench.poll(first);
    const second = await bench.add(bench.rig(1).address);
    for (let read = 0; read < 4; read += 1) await bench.poll(second);
    expect(await bench.get(first)).toMatchObject({ uid: "025100000077", statusInfo: { statusDisplay: "Mining" } });
    const shown = MinerDetail.parse(await bench.get(second));
    expect(shown).toMatchObject({ uid: null, statusInfo: { statusDisplay: "Error" }, hasValidStatus: false });
    expect(shown.readings.notes).toHaveLength(1);
    expect(await bench.notifications()).toEqual([expect.stringContaining("025100000077")]);
    expect(await refusal(bench.act(second, { action: "stop" }))).toBe("in.use");
  });

  test("nothing of another rig at the address is shown, and it takes no commands meant for the first", async () => {
    const bench = await openBench({
      rigs: [
        { kind: "axeos", mac: "02:51:00:00:00:01", warm: true },
        { kind: "axeos", mac: "02:51:00:00:00:02", warm: true },
      ],
    });
    const id = await bench.add(bench.rig(0).address);
    const other = bench.rig(1);
    await bench.service.changeMiner({ id, address: other.address }, { actor: "test" });
    for (let read = 0; read < 5; read += 1) await bench.poll(id);
    expect(await bench.get(id)).toMatchObject({
      uid: "025100000001",
      macAddress: "025100000001",
      statusInfo: { statusDisplay: "Error" },
      isOffline: false,
      hasValidStatus: false,
      speedInfo: { hashrateValue: 0 },
    });
    const error = await problem(bench.act(id, { action: "stop" }));
    expect(error.code).toBe("rig.other");
    expect(error.message).toContain("02:51:00:00:00:02");
    expect(other.requests.writes).toEqual([]);
    expect(await bench.notifications()).toHaveLength(1);
    await bench.service.changeMiner({ id, address: bench.rig(0).address }, { actor: "test" });
    expect((await bench.poll(id)).statusInfo.statusDisplay).toBe("Mining");
  });
});

describe("a rig that is broken", () => {
  const slow: readonly FaultName[] = ["slow", "silent", "endless", "delay"];
  const names = Object.keys(faults).filter((name): name is FaultName => name in faults);
  test.each(["cgminer", "axeos", "xmrig"] as const)(
    "ends in a note or is missed, and is read again when it is well: %s",
    async (kind) => {
      const rigs = names.map((name): RigSpec => ({ kind, name, warm: true }));
      // At a port that tells nothing of what is there, finding it out again takes 0.4 s by itself.
      const bench = await openBench({ rigs, config: { poll: { interval: 3600, timeout: 2 } } });
      const ids = await Promise.all(bench.farm.rigs.map(({ address }) => bench.add(address)));
      for (const [index, name] of names.entries()) bench.rig(index).fault = name;
      const broken = await Promise.all(ids.map((id) => bench.poll(id)));
      for (const [index, shown] of broken.entries()) {
        MinerDetail.parse(shown);
        const name = names[index] ?? "off";
        if (slow.includes(name) && kind === "cgminer") expect(shown.readings.stale).toBe(true);
        if (shown.readings.stale) expect(shown.readings.notes.length).toBeGreaterThan(0);
      }
      for (const rig of bench.farm.rigs) rig.fault = null;
      const isWell = async (id: number): Promise<boolean> => !(await bench.poll(id)).readings.stale;
      // On a busy machine a read of a rig that is well may take longer than these 2 s, too.
      for (const id of ids) await until(() => isWell(id), "the rig to be read");
    },
  );
});

describe("efficiency", () => {
  test("is unknown until the hash rate is near the expected one, after a start and after a pause", async () => {
    const clock = stoppedClock();
    const bench = await openBench({ rigs: [{ kind: "axeos" }], clock: clock.now });
    const id = await bench.add(bench.rig(0).address);
    const readAfter = async (seconds: number) => {
      clock.pass(seconds);
      const { hashrate, power, efficiency } = (await bench.poll(id)).readings;
      return {
        works: Number(hashrate) > 0 && Number(power) > 0,
        isRatio: efficiency === Number(power) / Number(hashrate),
        efficiency,
      };
    };
    expect(await readAfter(5)).toMatchObject({ works: true, efficiency: null });
    expect(await readAfter(120)).toMatchObject({ works: true, isRatio: true });
    const { model } = bench.rig(0);
    model.change((rig) => {
      rig.mining = false;
    });
    expect(await readAfter(600)).toMatchObject({ works: false, efficiency: null });
    model.change((rig) => {
      rig.mining = true;
    });
    expect(await readAfter(5)).toMatchObject({ works: true, efficiency: null });
    expect(await readAfter(120)).toMatchObject({ works: true, isRatio: true });
    await bench.restart();
    expect(await readAfter(5)).toMatchObject({ works: true, isRatio: true });
  });

  test("of a rig below its expected hash rate is known once it has hashed for ten minutes", async () => {
    const clock = stoppedClock();
    const bench = await openBench({ rigs: [{ kind: "whatsminer" }], clock: clock.now });
    bench.rig(0).model.boardsOff.add(0);
    const id = await bench.add(bench.rig(0).address);
    const efficiencyAfter = async (seconds: number) => {
      clock.pass(seconds);
      return (await bench.poll(id)).readings.efficiency;
    };
    expect(await efficiencyAfter(90)).toBeNull();
    expect(await efficiencyAfter(500)).toBeNull();
    expect(await efficiencyAfter(100)).toBeGreaterThan(0);
  });
});

describe("energy", () => {
  test("is integrated while the rig is read, kept over a restart, and does not fall", async () => {
    const clock = stoppedClock();
    const bench = await openBench({
      rigs: [{ kind: "axeos", warm: true }],
      clock: clock.now,
      config: { poll: { interval: 60 } },
    });
    const id = await bench.add(bench.rig(0).address);
    for (let minute = 0; minute < 60; minute += 1) {
      clock.pass(60);
      await bench.poll(id);
    }
    await bench.restart();
    const { energy } = (await bench.get(id)).readings;
    expect(energy).toBeGreaterThan(15);
    expect(energy).toBeLessThan(20);
    clock.pass(7 * 86_400);
    await bench.poll(id);
    await bench.restart();
    expect((await bench.get(id)).readings.energy).toBe(energy);
  });
});
