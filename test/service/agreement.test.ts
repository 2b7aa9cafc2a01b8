import { afterEach, describe, expect, test } from "vitest";
import type { Reply } from "../../src/contract/service.ts";
import type { RigSpec } from "../../src/simulator/index.ts";
import { stoppedClock } from "../clock.ts";
import { specimens } from "../docs/specimens.ts";
import { status } from "../simulator/ask.ts";
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

const family = ({ driver, rigs }: (typeof specimens)[number]): string => `${driver}: ${rigs}`;

describe("a rig that is switched on and has no pool to mine at is idle, not stopped", () => {
  const pools = [{ url: "stratum+tcp://dead.example.com:3333", user: "acct.rig", alive: false }];
  test.each(specimens.map((each) => [family(each), each] as const))("%s", async (_, { spec, credentials, driver }) => {
    const clock = stoppedClock();
    const bench = await openBench({ rigs: [{ ...spec, warm: true, pools }], clock: clock.now });
    // No average of the simulator's reaches further back.
    clock.pass(7_200);
    const id = await bench.add(bench.rig(0).address, { ...credentials, driver });
    const shown = await bench.poll(id);
    const { status, ...rest } = said(shown);
    // AxeOS says nothing of whether its pools answer.
    const code = driver === "axeos" ? "unknown" : "pools";
    expect([status, shown.readings.reason?.code]).toEqual(["Idle", code]);
    if (rest.switched !== null) expect(rest).toEqual(on);
  });
});

describe("a rig that a person has stopped is reported as stopped", () => {
  test.each(specimens.map((each) => [family(each), each] as const))("%s", async (_, { spec, credentials, driver }) => {
    const clock = stoppedClock();
    const bench = await openBench({ rigs: [{ ...spec, warm: true }], clock: clock.now });
    clock.pass(7_200);
    const id = await bench.add(bench.rig(0).address, { ...credentials, driver });
    const { canStop, readings } = await bench.poll(id);
    expect(readings.reason).toBeNull();
    if (!canStop) return;
    await bench.act(id, { action: "stop" });
    clock.pass(120);
    const { statusInfo, readings: now } = await bench.poll(id);
    expect([statusInfo.statusDisplay, now.reason?.code]).toEqual(["Stopped", "user"]);
  });
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
