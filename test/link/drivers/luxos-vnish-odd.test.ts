import { test } from "@jest/globals";
import type { Driver } from "../../../src/link/driver.ts";
import { luxos } from "../../../src/link/drivers/luxos/index.ts";
import { vnish } from "../../../src/link/drivers/vnish/index.ts";
import type { RigSpec } from "../../../src/simulator/index.ts";
import { expectSpoiledReads } from "./spoiled-replies.ts";

test.each<[string, Driver, RigSpec]>([
  ["LuxOS", luxos, { kind: "luxos" }],
  ["LuxOS that does not join", luxos, { kind: "luxos", joins: false, managed: true }],
  ["VNish", vnish, { kind: "vnish" }],
  ["older VNish", vnish, { kind: "vnish", version: "1.2.6" }],
])("whatever %s answers, it is read within the contract or fails as documented", async (_, driver, spec) => {
  await expectSpoiledReads(driver, spec, { password: "admin" });
});
