import { z } from "zod";
import { Service, startFarm } from "./rigs.ts";
import { type Measured, measured, median } from "./statistics.ts";

const key = "benchmark-benchmark";
/** Long enough for nothing to be polled while a change is measured. */
const rarely = 3600;
/** ms after a change in which what it begins in the background counts too. */
const restMs = 1_000;

/** What is saved in turn, so that each save changes something for every rig. */
const changes = {
  electricity: [{ price: 0.31 }, { price: 0.29 }],
  display: [{ locale: "sv-SE" }, { locale: "de-DE" }],
  power: [{ minOn: 61 }, { minOn: 59 }],
  history: [{ raw: 3 }, { raw: 2.5 }],
} as const;

/** CPU of a service of 10,000 rigs for a change of one section, with what the change begins. */
export async function settings(quick: boolean): Promise<Measured[]> {
  const rigs = quick ? 200 : 10_000;
  const farm = await startFarm(rigs);
  const service = new Service();
  await service.start(farm.rigs, { interval: rarely, key });
  await service.readAll(rigs);
  const cpuOf = async (work: () => Promise<void>): Promise<number> => {
    const before = await service.child.cpu();
    await work();
    await new Promise((resolve) => setTimeout(resolve, restMs));
    return ((await service.child.cpu()) - before) / 1000;
  };
  const notes: string[] = [];
  let dearest: number[] = [];
  for (const [section, values] of Object.entries(changes)) {
    const costs: number[] = [];
    for (let round = 0; round < (quick ? 2 : 6); round += 1) {
      const value = values[round % values.length];
      const idle = await cpuOf(async () => undefined);
      const cost = (await cpuOf(() => save(service.url, section, value))) - idle;
      if (round > 0) costs.push(cost);
    }
    // The median: once a minute the service counts what all rigs earn, which may fall into any of these seconds.
    notes.push(`${section} ${median(costs).toFixed(0)} ms`);
    if (dearest.length === 0 || median(costs) > median(dearest)) dearest = costs;
  }
  await Promise.all([service.end(), farm.end()]);
  return [measured("settings.10000.ms", dearest, notes.join(", "))];
}

const Saved = z.object({ saved: z.literal(true) });

async function save(url: string, section: string, value: unknown): Promise<void> {
  const answer = await fetch(`${url}/api/settings/${section}`, {
    method: "PUT",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({ value }),
  });
  Saved.parse(await answer.json());
}
