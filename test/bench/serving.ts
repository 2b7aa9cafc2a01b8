import { z } from "zod";
import { Child } from "./child.ts";
import { Service, startFarm } from "./rigs.ts";
import { type Measured, measured, median, ratios } from "./statistics.ts";
import { fetchAway, hammer } from "./web.ts";

/** The id of the first miner of a configuration. */
const firstId = 1_000_000_001;

/** Long enough for nothing to be polled while answers are measured. */
const rarely = 3600;
const key = "benchmark-benchmark";

const Url = z.string();
const ms = (costs: readonly number[]): string => `${(median(costs) / 1000).toFixed(1)} ms`;

/** µs of a process's CPU an answer, for so many answers one after the other. */
async function costOf(child: Child, url: string, answers: number): Promise<number> {
  const before = await child.cpu();
  for (let turn = 0; turn < answers; turn += 1) await fetchAway(url, key);
  return ((await child.cpu()) - before) / answers;
}

export async function list(quick: boolean): Promise<Measured[]> {
  const rigs = quick ? 200 : 10_000;
  const farm = await startFarm(rigs);
  const service = new Service();
  await service.start(farm.rigs, { interval: rarely, key });
  await service.readAll(rigs);
  const page = `${service.url}/api/miners`;
  const bare = new Child("bare-server.ts");
  const base = await bare.ask(Url, "list", { url: page, key, chunks: rigs });
  const bytes = await fetchAway(page, key);
  const costs: Record<"ours" | "changed" | "chunks" | "ready" | "stringify", number[]> = {
    ours: [],
    changed: [],
    chunks: [],
    ready: [],
    stringify: [],
  };
  const rounds = quick ? 2 : 5;
  for (let round = 0; round <= rounds; round += 1) {
    const ours = await costOf(service.child, page, 10);
    const chunks = await costOf(bare, `${base}/chunks`, 10);
    const ready = await costOf(bare, `${base}/ready`, 10);
    const stringify = await costOf(bare, `${base}/stringify`, 5);
    await service.child.tell("readAgain");
    const changed = await costOf(service.child, page, 1);
    if (round === 0) continue;
    costs.ours.push(ours);
    costs.changed.push(changed);
    costs.chunks.push(chunks);
    costs.ready.push(ready);
    costs.stringify.push(stringify);
  }
  const one: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const cost = await costOf(service.child, `${page}/${firstId}`, quick ? 300 : 3000);
    if (round > 0) one.push(cost);
  }
  await Promise.all([service.end(), farm.end(), bare.end()]);
  const size = `${(bytes / 1e6).toFixed(1)} MB`;
  return [
    measured(
      "list.10000.ratio",
      ratios(costs.ready, costs.ours),
      `${size}: ${ms(costs.ours)}, the bare server ${ms(costs.ready)}, joining a piece a miner first ${ms(costs.chunks)}`,
    ),
    measured("list.10000.changed", ratios(costs.ready, costs.changed), `${ms(costs.changed)} when all are new`),
    measured("list.10000.peer", ratios(costs.stringify, costs.ours), `with JSON.stringify ${ms(costs.stringify)}`),
    measured("miner.us", one, "one after the other on one connection"),
  ];
}

export async function summary(quick: boolean): Promise<Measured[]> {
  const rigs = quick ? 50 : 1000;
  const farm = await startFarm(rigs);
  const service = new Service();
  await service.start(farm.rigs, { interval: rarely, key });
  await service.readAll(rigs);
  const page = `${service.url}/api/summary`;
  const bare = new Child("bare-server.ts");
  const base = await bare.ask(Url, "fastify", { url: page, key, chunks: 1 });
  const load = { connections: 64, seconds: quick ? 0.5 : 2 };
  const cost = async (child: Child, url: string, withKey: string | null): Promise<number> => {
    const before = await child.cpu();
    const answers = await hammer(url, { key: withKey, ...load });
    return ((await child.cpu()) - before) / answers;
  };
  const ours: number[] = [];
  const floor: number[] = [];
  for (let round = 0; round <= (quick ? 1 : 5); round += 1) {
    const our = await cost(service.child, page, key);
    const their = await cost(bare, `${base}/api/summary`, null);
    if (round === 0) continue;
    ours.push(our);
    floor.push(their);
  }
  await Promise.all([service.end(), farm.end(), bare.end()]);
  const note = `${median(ours).toFixed(1)} µs an answer, Fastify ${median(floor).toFixed(1)} µs`;
  return [measured("summary.ratio", ratios(floor, ours), note)];
}
