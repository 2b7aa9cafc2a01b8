import { startFarm } from "../../src/simulator/index.ts";
import { startHomebridge } from "../homebridge/homebridge.ts";
import { until } from "../until.ts";
import { Verdict, wait } from "./measure.ts";

/**
 * A scene of HomeKit over rigs that take a second for each answer: how long it is until all of them are confirmed to be
 * off, and on, through a real Homebridge that reads them itself.
 */
const count = 50;
const scenes = 6;
/** s; each rig answers three times: which one it is, the switch, and that it did. */
const most = 4;

async function main(): Promise<void> {
  const farm = await startFarm({ rigs: Array.from({ length: count }, () => ({ kind: "axeos", warm: true }) as const) });
  const rigs = farm.rigs.map(({ address }, index) => ({ address, name: `Rig ${index + 1}` }));
  const homebridge = await startHomebridge({ platform: { name: "Rigbridge", rigs } });
  const { controller } = homebridge;
  const verdict = new Verdict();
  try {
    await until(
      async () => (await controller.accessories()).length === count + 1,
      "Homebridge to show every rig and the alarm",
    );
    for (const rig of farm.rigs) rig.fault = { name: "delay", ms: 1_000 };
    const switches = (await controller.accessories())
      .flatMap(({ services }) => services.filter(({ type }) => type === "outlet"))
      .flatMap(({ characteristics }) => characteristics.filter(({ type }) => type === "on"));
    for (let scene = 0; scene < scenes; scene += 1) {
      // At another moment between two reads of a rig each time.
      await wait(11_700);
      const on = scene % 2 === 1;
      const start = performance.now();
      const statuses = await controller.writeAll(switches.map((each) => [each, on] as const));
      const seconds = (performance.now() - start) / 1000;
      const right = statuses.filter((status) => status === 0).length;
      const obeyed = farm.rigs.filter(({ model }) => model.mining === on).length;
      verdict.check(
        `${on ? "on" : "off"}: ${right} of ${count} confirmed and ${obeyed} obeyed after ${seconds.toFixed(1)} s, at most ${most} s`,
        right === count && obeyed === count && seconds <= most,
      );
    }
  } finally {
    await homebridge.close();
    await farm.close();
  }
  verdict.end();
}

await main();
