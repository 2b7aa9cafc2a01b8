import { afterEach, expect, test } from "@jest/globals";
import { stoppedClock } from "../clock.ts";
import { onTestFinished } from "../finished.ts";
import { caller, closeBenches, openBench } from "../service/bench.ts";
import { bridgeTo } from "./bridged.ts";
import { startMosquitto, subscribeAt } from "./mosquitto.ts";

afterEach(closeBenches);

test("the energy of a group and of the farm stays when a miner leaves", async () => {
  const clock = stoppedClock();
  const rig = { kind: "axeos", warm: true } as const;
  const config = { groups: [{ name: "Hall" }] };
  const [bench, mosquitto] = await Promise.all([
    openBench({ rigs: [rig, rig], clock: clock.now, config }),
    startMosquitto(),
  ]);
  const ids = [0, 1].map((index) => bench.add(bench.rig(index).address, { group: "Hall" }));
  const [first = 0, second = 0] = await Promise.all(ids);
  clock.pass(3600);
  for (const id of [first, second]) await bench.poll(id);
  await bench.restart(config);
  const listening = await subscribeAt(mosquitto.url);
  const bridge = await bridgeTo(bench.service, { url: mosquitto.url });
  onTestFinished(async () => {
    await bridge.close();
    await listening.close();
    await mosquitto.stop();
  });
  const said = async (topic: string, miners: number) => {
    const fits = (heard: { readonly topic: string; readonly payload: string }) =>
      heard.topic === topic && JSON.parse(heard.payload).miners === miners;
    return JSON.parse((await listening.until(fits)).payload);
  };
  const { energy = null, groupList = [] } = await bench.service.getSummary({}, caller);
  expect(energy).toBeGreaterThan(30);
  const topics = ["rigbridge/summary", `rigbridge/group/${groupList[0]?.id}/state`];
  for (const topic of topics) expect(await said(topic, 2)).toMatchObject({ energy, energy_kwh: Number(energy) / 1000 });
  await bench.service.deleteMiner({ id: first }, caller);
  for (const topic of topics) expect(await said(topic, 1)).toMatchObject({ energy });
});
