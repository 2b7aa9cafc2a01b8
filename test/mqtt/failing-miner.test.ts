import { afterEach, expect, test } from "@jest/globals";
import type { Miner } from "../../src/contract/resources.ts";
import type { MiningService } from "../../src/contract/service.ts";
import { onTestFinished } from "../finished.ts";
import { closeBenches, openBench } from "../service/bench.ts";
import { until } from "../until.ts";
import { bridgeTo, recordingLog } from "./bridged.ts";
import { type Received, startMosquitto, subscribeAt } from "./mosquitto.ts";

afterEach(closeBenches);

/** The same service with one miner of which this part throws when it is read. */
function failingOver(service: MiningService, name: string, field: keyof Miner): MiningService {
  const spoilt = (miner: Miner): Miner =>
    Object.defineProperty({ ...miner }, field, {
      enumerable: true,
      get: () => {
        throw new TypeError("an invented fault of the bridge");
      },
    });
  const spoiltIn = <T extends { minerList: Miner[] }>(group: T): T => ({
    ...group,
    minerList: group.minerList.map((miner) => (miner.name === name ? spoilt(miner) : miner)),
  });
  return {
    ...service,
    listMiners: async (input, caller) => {
      const list = await service.listMiners(input, caller);
      return { ...list, groupList: list.groupList.map(spoiltIn) };
    },
    async *watchEvents(input, caller, signal) {
      for await (const event of service.watchEvents(input, caller, signal))
        yield event.type === "miner" && event.data.name === name ? { ...event, data: spoilt(event.data) } : event;
    },
  };
}

test.each<keyof Miner>(["readings", "controls", "statusInfo", "poolList", "heating"])(
  "a miner whose %s makes the bridge fail is published as offline and logged once, and the others are not affected",
  async (field) => {
    const bench = await openBench({
      rigs: [
        { kind: "axeos", warm: true },
        { kind: "axeos", warm: true },
      ],
    });
    const failing = await bench.add(bench.rig(0).address, { name: "Failing", driver: "axeos" });
    const sound = await bench.add(bench.rig(1).address, { name: "Sound", driver: "axeos" });
    const [bad, good] = [await bench.get(failing), await bench.get(sound)];
    const mosquitto = await startMosquitto();
    onTestFinished(() => mosquitto.stop());
    const { log, lines } = recordingLog();
    const listener = await subscribeAt(mosquitto.url);
    onTestFinished(() => listener.close());
    const bridge = await bridgeTo(failingOver(bench.service, "Failing", field), { url: mosquitto.url }, { log });
    onTestFinished(() => bridge.close());

    const at = (topic: string, payload: RegExp) => (heard: Received) =>
      heard.topic === topic && payload.test(heard.payload);
    await listener.until(at(`rigbridge/miner/${good.uid}/state`, /"status":"mining"/));
    await listener.until(at(`homeassistant/device/rigbridge_miner_${good.uid}/config`, /./));
    await listener.until(at(`rigbridge/miner/${bad.uid}/availability`, /^offline$/));
    await listener.until(at("rigbridge/summary", /"miners":1,/));
    const from = listener.received.length;
    await bench.poll(failing);
    bench.rig(1).model.mining = false;
    await until(
      async () => (await bench.poll(sound)).statusInfo.statusDisplay === "Stopped",
      "the sound rig to be stopped",
    );
    await listener.until(at(`rigbridge/miner/${good.uid}/state`, /"status":"stopped"/), from);
    expect(listener.last("rigbridge/bridge/state")).toBe("online");
    expect(lines.filter(({ level }) => level >= 50).map(({ msg }) => msg)).toEqual([
      `miner ${failing} cannot be shown`,
    ]);
  },
);
