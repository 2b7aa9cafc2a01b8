import { test } from "@jest/globals";
import type { Driver } from "../../../src/link/driver.ts";
import { lolminer } from "../../../src/link/drivers/lolminer/index.ts";
import { miniz } from "../../../src/link/drivers/miniz/index.ts";
import { nanominer } from "../../../src/link/drivers/nanominer/index.ts";
import { onezerominer } from "../../../src/link/drivers/onezerominer/index.ts";
import { teamblack } from "../../../src/link/drivers/teamblack/index.ts";
import { wildrig } from "../../../src/link/drivers/wildrig/index.ts";
import { xmrigProxy } from "../../../src/link/drivers/xmrig-proxy/index.ts";
import type { RigSpec } from "../../../src/simulator/index.ts";
import { expectSpoiledReads } from "./spoiled-replies.ts";

const token = "geheim";

test.each<[string, Driver, RigSpec]>([
  ["lolMiner", lolminer, { kind: "lolminer", dualAlgorithm: "KASPA" }],
  ["lolMiner up to 1.3", lolminer, { kind: "lolminer", older: true }],
  ["OneZeroMiner", onezerominer, { kind: "onezerominer", dualAlgorithm: "qhash" }],
  ["WildRig", wildrig, { kind: "wildrig" }],
  ["nanominer", nanominer, { kind: "nanominer", dualAlgorithm: "HeavyHash" }],
  ["Team Black Miner", teamblack, { kind: "teamblack", dualAlgorithm: "kawpow" }],
  ["Team Black Miner 1.x", teamblack, { kind: "teamblack", older: true }],
  ["miniZ", miniz, { kind: "miniz" }],
  ["xmrig-proxy", xmrigProxy, { kind: "xmrig-proxy", password: token }],
])("whatever %s answers, it is read within the contract or fails as documented", async (_, driver, spec) => {
  await expectSpoiledReads(driver, spec, { token });
});
