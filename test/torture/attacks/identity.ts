import { setTimeout as wait } from "node:timers/promises";
import { z } from "zod";
import { isProgram, type SimulatedRig, startFarm } from "../../../src/simulator/index.ts";
import { specimens } from "../../docs/specimens.ts";
import { type Door, openDoor } from "../../door.ts";
import { until } from "../../until.ts";
import type { Attack } from "../attack.torture.ts";
import type { Verdict } from "../measure.ts";
import { type ServiceProcess, startProcess } from "../process.ts";

/**
 * Somebody who gives out the addresses of a network gives each rig's to another one of its kind and login, right after
 * the service has read it, and waits for the owner to switch his rig. SECURITY.md: another rig is told nothing.
 */
const key = "attack-key-0123456789abcdef";
/** Plain cgminer and most mining programs say neither MAC nor serial; without a login, an MSKMiner at all, nothing can be told. */
const told = specimens.filter(
  ({ driver, rigs, spec }) =>
    !["cgminer", "mskminer"].includes(driver) && !isProgram(spec.kind) && rigs !== "Antminer without its login",
);
/** ms that each answer of a slow rig takes. */
const slow = 600;

const List = z.object({
  groupList: z.array(z.object({ minerList: z.array(z.object({ id: z.int(), name: z.string() })) })),
});
const Miner = z.object({
  hasValidStatus: z.boolean(),
  controls: z.array(z.object({ key: z.string(), kind: z.string(), value: z.unknown() })),
});

export const attack: Attack = {
  name: "addresses of rigs are given to other rigs",
  run: async (verdict) => {
    await swapped(verdict, "fast rigs", 0);
    await swapped(verdict, "slow rigs", slow);
  },
};

async function swapped(verdict: Verdict, what: string, delay: number): Promise<void> {
  const specs = told.flatMap(({ spec }) => [spec, spec]);
  const farm = await startFarm({ rigs: specs.map((spec) => ({ ...spec, warm: true, restartSeconds: 0 })) });
  const owners = farm.rigs.filter((_, index) => index % 2 === 0);
  const others = farm.rigs.filter((_, index) => index % 2 === 1);
  const doors = await Promise.all(owners.map((rig) => openDoor(rig)));
  const miners = told.map(({ rigs, driver, credentials = {} }, index) => ({
    name: rigs.replace(/[^\w ]/g, ""),
    address: doors[index]?.address,
    driver,
    ...credentials,
  }));
  const service = await startProcess({ config: { http: { key }, poll: { interval: 3600, timeout: 10 }, miners } });
  try {
    await attackAll(verdict, what, { service, owners, others, doors, delay });
  } finally {
    await service.close();
    await Promise.all(doors.map((door) => door.close()));
    await farm.close();
  }
}

interface Scene {
  readonly service: ServiceProcess;
  readonly owners: readonly SimulatedRig[];
  readonly others: readonly SimulatedRig[];
  readonly doors: readonly Door[];
  readonly delay: number;
}

async function attackAll(verdict: Verdict, what: string, { service, owners, others, doors, delay }: Scene) {
  const ask = async (method: string, target: string) => JSON.parse((await service.ask(method, target)).text) as unknown;
  const ids = List.parse(await ask("GET", "/api/miners")).groupList.flatMap(({ minerList }) =>
    minerList.map(({ id }) => id),
  );
  await until(async () => {
    const all = await Promise.all(ids.map(async (id) => Miner.parse(await ask("GET", `/api/miners/${id}`))));
    return all.every(({ hasValidStatus }) => hasValidStatus);
  }, "every rig to be read");
  if (delay > 0) for (const rig of [...owners, ...others]) rig.fault = { name: "delay", ms: delay };
  const results = await Promise.all(
    ids.map(async (id, index) => {
      const { controls } = Miner.parse(await ask("POST", `/api/miners/${id}/poll`));
      const control = controls.find(({ kind }) => kind === "switch") ?? controls.find(({ kind }) => kind === "trigger");
      const other = others[index];
      if (control === undefined || other === undefined) return { name: told[index]?.rigs, reached: 0, failed: false };
      doors[index]?.leadTo(other);
      const value = String(control.value !== true);
      const target = `/api/miners/${id}?action=set&property=${control.key}&value=${value}`;
      const { status, text } = await service.ask("POST", target);
      const reached = other.requests.writes.filter((write) => !write.includes("onPageLoaded")).length;
      return { name: told[index]?.rigs, reached, failed: status === 409 && text.includes("Another rig answers at") };
    }),
  );
  await wait(500);
  const reached = results.filter((each) => each.reached > 0).map(({ name }) => name);
  verdict.check(
    `${what}: ${reached.length} of ${results.length} other rigs were told something${reached.length > 0 ? ` (${reached.join(", ")})` : ""}`,
    reached.length === 0,
  );
  const failed = results.filter((each) => each.failed).length;
  verdict.check(
    `${what}: ${failed} of ${results.length} owners were told that another rig answers`,
    failed === results.length,
  );
}
