import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import registerIn from "../../nodes/miner-in/rigbridge-miner-in.ts";
import registerService from "../../nodes/service/rigbridge-service.ts";
import registerSummary from "../../nodes/summary-in/rigbridge-summary-in.ts";
import { drivers } from "../../src/link/drivers/index.ts";
import { startFarm } from "../../src/simulator/index.ts";
import { failing, failOver } from "../failing-rig.ts";
import { onTestFinished } from "../finished.ts";
import { until } from "../until.ts";
import { openFlow } from "./bench-flow.ts";

// An uncaught exception fails this file, as it would end Node-RED.

test("an internal error over one rig does not stop the nodes from reporting the other", async () => {
  onTestFinished(failOver(drivers, "readings.shares"));
  const farm = await startFarm({
    rigs: [
      { kind: "axeos", name: failing.hostname, warm: true },
      { kind: "axeos", warm: true },
    ],
  });
  onTestFinished(() => farm.close());
  const userDir = await mkdtemp(join(tmpdir(), "nodes-"));
  onTestFinished(() => rm(userDir, { recursive: true, force: true }));
  const rigs = farm.rigs.map(({ address }, index) => ({ address, name: index === 0 ? "Failing" : "Sound", group: "" }));
  const shared = { version: 1, service: "service" };
  const flow = await openFlow(
    [registerService, registerIn, registerSummary],
    [
      { id: "service", type: "rigbridge-service", mode: "inside", rigs, interval: 1, version: 1 },
      { id: "in", type: "rigbridge-miner-in", ...shared, scope: "all", interval: 1, repeat: true, wires: [["out"]] },
      { id: "summary", type: "rigbridge-summary-in", ...shared, every: 1, wires: [["sums"]] },
      { id: "out", type: "helper" },
      { id: "sums", type: "helper" },
    ],
    { userDir },
  );
  onTestFinished(() => flow.close());
  const details = () =>
    JSON.stringify([flow.recorded("service"), flow.recorded("in"), flow.recorded("out")]).slice(0, 5000);
  const statusesOf = (wanted: string) =>
    flow.recorded("out").messages.flatMap(({ payload }) => {
      const { name, status } = Object(payload);
      return name === wanted ? [status] : [];
    });
  await until(() => statusesOf("Sound").length > 2, "the third message of the sound rig", { details });
  await until(() => statusesOf("Failing").length > 0, "a message of the failing rig", { details });
  await until(() => flow.recorded("sums").messages.length > 0, "a summary", { details });
  expect(new Set(statusesOf("Sound"))).toEqual(new Set(["mining"]));
  expect(new Set(statusesOf("Failing"))).toEqual(new Set(["error"]));
  expect(flow.recorded("service").warnings.filter((text) => /^miner \d+ cannot be shown/.test(text))).toHaveLength(1);
  expect(flow.recorded("in").errors).toEqual([]);
});
