import { expect, test } from "@jest/globals";
import { Site } from "../../src/centre/site.ts";
import { openBench } from "../service/bench.ts";
import { until } from "../until.ts";
import { atEnd } from "./centre-bench.ts";

// depends on: src/centre/site.ts

const nothing = (): void => undefined;
const listener = { state: nothing, rows: nothing, row: nothing, removed: nothing, event: nothing };

test("a site that adds more rigs than it may have is refused, in its stream and in its list, and the rows stay as they were", async () => {
  const bench = await openBench({ rigs: [{ kind: "axeos" }, { kind: "cgminer" }] });
  const open = () => {
    const accept = async () => undefined;
    const site = new Site({ id: 1, name: "Cabin", url: null, service: bench.service, accept, listener, mostRows: 1 });
    atEnd(() => site.stop());
    site.start();
    return site;
  };
  const [first, second] = bench.farm.rigs;
  await bench.add(first?.address ?? "", { driver: "axeos" });
  const site = open();
  await until(() => site.isReached, "the site with one rig");
  await bench.add(second?.address ?? "", { driver: "cgminer" });
  const refused = { state: "refused", problem: "Cabin has more than 1 miners; split it into several sites" };
  await until(() => !site.isReached, "the second rig");
  expect(site.shown()).toMatchObject({ ...refused, miners: 1 });
  const late = open();
  await until(() => late.shown().state !== "connecting", "its list");
  expect(late.shown()).toMatchObject({ ...refused, miners: null });
});
