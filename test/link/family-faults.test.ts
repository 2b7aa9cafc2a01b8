import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { RigbridgeError } from "../../src/contract/problems.ts";
import { RigReadings } from "../../src/contract/readings.ts";
import { drivers } from "../../src/link/drivers/index.ts";
import { openLink } from "../../src/link/link.ts";
import { type Farm, type FaultName, faults, type RigSpec, startFarm } from "../../src/simulator/index.ts";
import { specimens } from "../docs/specimens.ts";
import { ownHost } from "../own-host.ts";

/** Tested one by one in faults.test.ts, or too large to be made for each family. */
const left: ReadonlySet<string> = new Set(["vast", "many-devices", "http-bomb", "endless", "off", "slow", "delay"]);
const isTried = (name: string): name is FaultName => Object.hasOwn(faults, name) && !left.has(name);
const names = Object.keys(faults).filter(isTried);
const families = specimens.filter(({ driver }) => !["axeos", "cgminer", "xmrig"].includes(driver));
const documented = [
  "rig.unreachable",
  "rig.timeout",
  "rig.garbled",
  "rig.refused",
  "rig.login",
  "rig.read-only",
  "rig.busy",
];
/** ms; a rig that answers at all answers within a few. */
const patience = 1_500;

let farm: Farm;
beforeAll(async () => {
  const host = ownHost();
  const rigs = families.flatMap(({ spec }): RigSpec[] => names.map((fault) => ({ host, ...spec, warm: true, fault })));
  farm = await startFarm({ rigs });
});
afterAll(() => farm.close());

describe.each(families.map((family, index) => [family.rigs, family, index] as const))("%s", (_, family, index) => {
  test("ends every fault with a valid reading or a documented error", async () => {
    const driver = drivers.find(({ id }) => id === family.driver);
    const rigs = farm.rigs.slice(index * names.length, (index + 1) * names.length);
    const endings = await Promise.all(
      rigs.map(async ({ host, port }) => {
        const rig = driver?.connect(openLink({ host, port, tls: false }, family.credentials ?? {}));
        try {
          return await rig?.read(AbortSignal.timeout(patience));
        } catch (error) {
          return error instanceof RigbridgeError ? error.code : String(error);
        } finally {
          rig?.close();
        }
      }),
    );
    for (const [at, ending] of endings.entries()) {
      const fault = names[at];
      if (typeof ending === "string")
        expect([fault, documented.includes(ending) ? "documented" : ending]).toEqual([fault, "documented"]);
      else expect([fault, RigReadings.safeParse(ending?.readings).error]).toEqual([fault, undefined]);
    }
  });
});
