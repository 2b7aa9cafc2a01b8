import { expect, test } from "@jest/globals";
import { pino } from "pino";
import { WorkerPoller } from "../../src/fleet/workers/worker-poller.ts";
import { openCore } from "../../src/service/core.ts";
import { startRooms } from "../../src/service/room.ts";
import { openMiners } from "../../src/service/rooms/miners.ts";
import { startFarm } from "../../src/simulator/index.ts";
import { openStore } from "../any-store.ts";
import { onTestFinished } from "../finished.ts";
import { ownHost } from "../own-host.ts";
import { until } from "../until.ts";
import { configOf } from "./bench.ts";

test("a worker thread that ends again and again is logged three times and notified of once", async () => {
  const farm = await startFarm({ rigs: [{ kind: "axeos", warm: true, host: ownHost() }] });
  const store = await openStore({ file: ":memory:", now: Date.now });
  const lines: string[] = [];
  const log = pino({ level: "error" }, { write: (line) => void lines.push(line) });
  const { poll, ...config } = configOf({
    miners: farm.rigs.map(({ address }) => ({ address, driver: "axeos", password: "a-secret-of-the-rig" })),
  });
  const options = { config: { ...config, poll: { ...poll, workers: 1 } }, store, log };
  const core = await openCore(options);
  const miners = openMiners(core);
  const { registry } = miners;
  const close = await startRooms([core, miners]);
  onTestFinished(async () => {
    await close();
    await store.close();
    await farm.close();
  });
  const { fleet } = registry;
  const poller = fleet.present;
  if (!(poller instanceof WorkerPoller)) throw new Error("a poller with workers");
  const { rig } = registry.entry(1_000_000_001);
  for (let ends = 1; ends <= 4; ends += 1) {
    await fleet.poll(rig);
    expect(rig.state).toMatchObject({ missed: 0, trouble: null });
    await poller.kill(1);
    await until(() => lines.length >= Math.min(ends, 3), "the end to be logged");
  }
  await fleet.poll(rig);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject(
    [1, 2, 3].map((times) => ({
      worker: 1,
      miners: 1,
      times,
      msg: "a worker thread ended; a new one reads its miners",
    })),
  );
  expect(lines.join("")).not.toContain("a-secret-of-the-rig");
  await until(() => store.notifications.list().length > 0, "the notification");
  expect(store.notifications.list()).toMatchObject([
    { title: "Worker threads fail", message: expect.stringContaining("ended 3 times in a row"), minerId: null },
  ]);
  expect(registry.workers()).toHaveLength(1);
});
