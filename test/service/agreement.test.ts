import { afterEach, expect, test } from "@jest/globals";
import type { Reply } from "../../src/contract/service.ts";
import type { RigSpec } from "../../src/simulator/index.ts";
import { stoppedClock } from "../clock.ts";
import { type Specimen, specimens } from "../docs/specimens.ts";
import { status } from "../simulator/ask.ts";
import { until } from "../until.ts";
import { type Bench, closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

type Shown = Reply<"getMiner">;

/** What a miner says of itself in four places. */
const said = ({ statusInfo, readings, controls, canStart, canStop }: Shown) => ({
  status: statusInfo.statusDisplay,
  mining: readings.mining,
  switched: controls.find(({ key }) => key === "mining")?.value ?? null,
  canStart,
  canStop,
});

const on = { mining: true, switched: true, canStart: false, canStop: true };
const off = { mining: false, switched: false, canStart: true, canStop: false };

const family = ({ driver, rigs }: Specimen): string => `${driver}: ${rigs}`;

/** A rig of every kind at one service, side by side: one after the other they take minutes. Each is added and read. */
async function ofEveryKind(change: Pick<RigSpec, "pools"> = {}) {
  const clock = stoppedClock();
  const bench = await openBench({
    rigs: specimens.map(({ spec }): RigSpec => Object.assign({ ...spec }, change, { warm: true })),
    clock: clock.now,
  });
  // No average of the simulator's reaches further back.
  clock.pass(7_200);
  const rigs = await Promise.all(
    specimens.map(async (specimen, index) => {
      const { driver, credentials } = specimen;
      const id = await bench.add(bench.rig(index).address, { ...credentials, driver });
      return { name: family(specimen), driver, id, shown: await bench.poll(id) };
    }),
  );
  return { clock, bench, rigs };
}

/** Of whether they answer. */
const saysNothingOfPools: ReadonlySet<string> = new Set(["axeos", "apollo", "mujina"]);

test("a rig that is switched on and has no pool to mine at is idle, not stopped", async () => {
  const { rigs } = await ofEveryKind({
    pools: [{ url: "stratum+tcp://dead.example.com:3333", user: "acct.rig", alive: false }],
  });
  const found = rigs.map(({ name, shown }) => ({ name, ...said(shown), code: shown.readings.reason?.code }));
  expect(found).toEqual(
    rigs.map(({ name, driver, shown }) => {
      const { status, ...rest } = said(shown);
      const code = saysNothingOfPools.has(driver) ? "unknown" : "pools";
      return { name, ...(rest.switched === null ? rest : on), status: "Idle", code };
    }),
  );
});

test("a rig that a person has stopped is reported as stopped", async () => {
  const { bench, clock, rigs } = await ofEveryKind();
  expect(rigs.map(({ name, shown }) => [name, shown.readings.reason])).toEqual(rigs.map(({ name }) => [name, null]));
  const stoppable = rigs.filter(({ shown }) => shown.canStop);
  expect(stoppable.length).toBeGreaterThan(10);
  // An Avalon stops at a time that the command names.
  let isOver = false;
  const stopping = Promise.all(stoppable.map(({ id }) => bench.act(id, { action: "stop" }))).finally(() => {
    isOver = true;
  });
  const passing = until(() => {
    clock.pass(1);
    return isOver;
  }, "all of them to stop");
  await Promise.all([stopping, passing]);
  clock.pass(120);
  const found: unknown[] = [];
  for (const { name, id } of stoppable) {
    const { statusInfo, readings } = await bench.poll(id);
    found.push([name, statusInfo.statusDisplay, readings.reason?.code]);
  }
  expect(found).toEqual(stoppable.map(({ name }) => [name, "Stopped", "user"]));
});

test("an Avalon is at every moment between a stop and a start what all of them say", async () => {
  const clock = stoppedClock();
  const spec: RigSpec = { kind: "avalon", generation: "q", warm: true, restartSeconds: 60 };
  const bench = await openBench({ rigs: [spec], clock: clock.now });
  const id = await bench.add(bench.rig(0).address);
  const seen = async (bench: Bench): Promise<string[]> => {
    const shown: string[] = [];
    for (let second = 0; second < 40; second += 1) {
      const { status: now, ...rest } = said(await bench.poll(id));
      expect(rest).toEqual(now === "Stopped" ? off : on);
      if (shown.at(-1) !== now) shown.push(now);
      clock.pass(1);
    }
    return shown;
  };
  const tell = (option: "softoff" | "softon"): Promise<string> =>
    status(bench.rig(0), "ascset", `0,${option},1:${clock.now() / 1000 + 5}`);
  await tell("softoff");
  expect(await seen(bench)).toEqual(["Mining", "Stopped"]);
  await tell("softon");
  expect(await seen(bench)).toEqual(["Stopped", "Starting", "Mining"]);
});
