import { MinerRowList } from "../../src/contract/rows.ts";
import { Service, startFarm } from "./rigs.ts";
import { type Measured, measured, median } from "./statistics.ts";
import { fetchAway } from "./web.ts";

/** Long enough for nothing to be polled while answers are measured. */
const rarely = 3600;
const key = "benchmark-benchmark";

/** What the service gives the dashboard: the list of rigs as rows, whole and what has changed of it. */
export async function rows(quick: boolean): Promise<Measured[]> {
  const rigs = quick ? 200 : 10_000;
  // A board is switched before each reply, so that each read changes the row.
  const farm = await startFarm(rigs, { switching: true });
  const service = new Service();
  await service.start(farm.rigs, { interval: rarely, key });
  await service.readAll(rigs);
  const page = `${service.url}/api/miners?view=list`;
  /** ms of CPU an answer. */
  const costOf = async (url: string, answers: number, encoding?: string): Promise<number> => {
    const before = await service.child.cpu();
    for (let turn = 0; turn < answers; turn += 1) await fetchAway(url, key, encoding);
    return ((await service.child.cpu()) - before) / answers / 1000;
  };
  const list = async (url: string) =>
    MinerRowList.parse(await (await fetch(url, { headers: { "x-api-key": key } })).json());
  const [plain, gzip, brotli, delta]: number[][] = [[], [], [], []];
  const changed: number[] = [];
  for (let round = 0; round <= (quick ? 1 : 5); round += 1) {
    const costs = [await costOf(page, 10), await costOf(page, 10, "gzip"), await costOf(page, 10, "br")];
    const since = `${page}&since=${(await list(page)).version}`;
    await service.child.tell("readSome", quick ? 20 : 500);
    // The first has to look at the rows; it is the one that a page asks for.
    const first = await costOf(since, 1);
    if (round === 0) continue;
    plain?.push(costs[0] ?? 0);
    gzip?.push(costs[1] ?? 0);
    brotli?.push(costs[2] ?? 0);
    delta?.push(first);
    changed.push((await list(since)).miners.length);
  }
  const bytes = await fetchAway(page, key);
  const zipped = await fetchAway(page, key, "gzip");
  const small = await fetchAway(page, key, "br");
  await Promise.all([service.end(), farm.end()]);
  const ms = (costs: readonly number[] = []): string => `${median(costs).toFixed(1)} ms`;
  return [
    measured(
      "web.rows.cpu.ms",
      plain ?? [],
      `${(bytes / 1e6).toFixed(2)} MB; with gzip ${ms(gzip)}, with brotli ${ms(brotli)}`,
    ),
    measured("web.rows.bytes", [zipped], `${Math.round(bytes / rigs)} bytes a rig, with brotli ${small} bytes in all`),
    measured("web.delta.cpu.ms", delta ?? [], `${median(changed)} rows had changed`),
  ];
}
