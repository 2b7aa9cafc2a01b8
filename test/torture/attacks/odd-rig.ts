import { startFarm } from "../../../src/simulator/index.ts";
import { failing, failingProgram } from "../../failing-rig.ts";
import type { Attack } from "../attack.torture.ts";
import type { Verdict } from "../measure.ts";
import { wait } from "../measure.ts";
import { startProcess } from "../process.ts";

/** Those that the started program loads. */
const drivers = new URL(
  process.env.RIGBRIDGE_BUILT === "true" ? "../../../dist/link/drivers/index.js" : "../../../src/link/drivers/index.ts",
  import.meta.url,
);
/** Where a mistake in the program could meet a rig: while it is read, while it is shown, and deep within lists. */
const fields = ["controls", "pools", "readings.shares", "readings.boards.0.serial"];
const sound = 20;
/** ms for several reads of each rig. */
const patience = 6_000;

/** SECURITY.md: a rig that makes Rigbridge itself fail takes no other with it. */
export const attack: Attack = {
  name: "a rig whose answers make the program itself fail",
  run: async (verdict) => {
    for (const field of fields) await attackBy(field, verdict);
  },
};

async function attackBy(field: string, verdict: Verdict): Promise<void> {
  const good = Array.from({ length: sound }, () => ({ kind: "axeos", warm: true }) as const);
  const farm = await startFarm({ rigs: [{ kind: "axeos", name: failing.hostname, warm: true }, ...good] });
  const miners = farm.rigs.map(({ address }, index) => ({ address, name: `Rig ${index}` }));
  const service = await startProcess({
    config: { http: { key: "invented-key-of-the-attack" }, poll: { interval: 1 }, miners },
    ...failingProgram(drivers, field),
  });
  await wait(patience);
  try {
    const health = await service.ask("GET", "/health");
    const list = await service.ask("GET", "/api/miners");
    const count = (status: string): number => list.text.split(`"statusDisplay":"${status}"`).length - 1;
    const said = service.stdout().split("cannot be shown").length - 1;
    verdict.check(`${field}: /health answers ${health.status} in ${health.ms.toFixed(0)} ms`, health.status === 200);
    verdict.check(`${field}: ${count("Mining")} of ${sound} other rigs are shown mining`, count("Mining") >= sound);
    verdict.check(`${field}: ${count("Error")} rig is shown with the status Error`, count("Error") === 1);
    verdict.check(`${field}: logged ${said} times`, said === 1);
  } catch (error) {
    verdict.check(`${field}: the service is gone (${String(error)})`, false);
  } finally {
    await service.close();
    await farm.close();
  }
}
