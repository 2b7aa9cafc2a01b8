import { expect, test } from "@jest/globals";
import { startFarm } from "../../src/simulator/index.ts";
import { failing, failingProgram } from "../failing-rig.ts";
import { onTestFinished } from "../finished.ts";
import { until } from "../until.ts";
import { startHomebridge } from "./homebridge.ts";

// depends on: src/**, homebridge/**, test/failing-rig.preload.ts

test("a rig that makes the service inside fail stops nothing else: another rig is shown, controlled and read", async () => {
  const farm = await startFarm({
    rigs: [
      { kind: "axeos", name: failing.hostname, warm: true },
      { kind: "axeos", warm: true },
    ],
  });
  onTestFinished(() => farm.close());
  const [bad, good] = farm.rigs;
  const { node: options, env } = failingProgram(
    new URL("../../dist/link/drivers/index.js", import.meta.url),
    "readings.shares",
  );
  const homebridge = await startHomebridge({
    platform: {
      name: "Rigbridge",
      rigs: [
        { address: bad?.address, name: "Failing", interval: 1 },
        { address: good?.address, name: "Sound", interval: 1 },
      ],
    },
    options,
    env,
  });
  onTestFinished(() => homebridge.close());
  await homebridge.until(/miner \d+ cannot be shown: TypeError: an invented fault/);
  await until(
    async () => (await homebridge.controller.accessories()).some(({ name }) => name === "Sound"),
    "the sound rig to appear",
  );
  const on = await homebridge.controller.find("Sound", "outlet", "on");
  await until(async () => (await homebridge.controller.read(on)).value === 1, "its outlet to be on");
  const reads = bad?.requests.count ?? 0;
  await until(() => (bad?.requests.count ?? 0) > reads, "the failing rig to be read again");
  expect(await homebridge.controller.write(on, false)).toBe(0);
  await until(() => good?.model.mining === false, "the sound rig to stop");
  expect(homebridge.lines.filter((line) => /cannot be shown/.test(line))).toHaveLength(1);
  expect((await homebridge.stop()).code).toBe(0);
});
