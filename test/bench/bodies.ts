import { Service, startFarm } from "./rigs.ts";
import { type Measured, measured, median, quantile } from "./statistics.ts";
import { fetchAway } from "./web.ts";
import { sendBody, type WorstBody, worstBodies } from "./worst-bodies.ts";

const key = "benchmark-benchmark";
/** Clients that send bodies while another one asks for little. */
const senders = 6;

/** What bodies cost that are made to cost much, and how long others wait meanwhile. */
export async function bodies(quick: boolean): Promise<Measured[]> {
  const farm = await startFarm(quick ? 10 : 1_000);
  const service = new Service();
  await service.start(farm.rigs, { interval: 3600, key });
  await service.readAll(farm.rigs.length);
  const port = Number(new URL(service.url).port);
  let clients = 0;
  /** As another client each time, so that none is told to wait. */
  const send = (worst: WorstBody): Promise<number> => {
    clients += 1;
    return sendBody(worst, {
      port,
      key,
      from: `127.104.${1 + (clients % 200)}.${1 + (Math.floor(clients / 200) % 200)}`,
    });
  };
  const costs: { name: string; ms: number; rounds: number[] }[] = [];
  for (const worst of worstBodies) {
    const rounds: number[] = [];
    for (let round = 0; round <= (quick ? 2 : 10); round += 1) {
      const before = await service.child.cpu();
      const status = await send(worst);
      if (status < 400 || status >= 500) throw new Error(`${worst.name}: ${status}`);
      // The first one warms up.
      if (round > 0) rounds.push(((await service.child.cpu()) - before) / 1000);
    }
    costs.push({ name: worst.name, ms: median(rounds), rounds });
  }
  costs.sort((a, b) => b.ms - a.ms);
  const waits = await waitsMeanwhile(service, send, quick ? 0.5 : 5);
  await Promise.all([service.end(), farm.end()]);
  const [worst] = costs;
  const dearest = costs.slice(0, 5).map(({ name, ms }) => `${name} ${ms.toFixed(0)}`);
  return [
    measured("bodies.worst.ms", worst?.rounds ?? [], `dearest first, in ms: ${dearest.join(", ")}`),
    measured(
      "bodies.others.p99.ms",
      [quantile(waits, 0.99)],
      `GET /api/summary beside ${senders} clients that send the dearest without a pause: p50 ${quantile(waits, 0.5).toFixed(1)} ms of ${waits.length}`,
    ),
  ];

  async function waitsMeanwhile(
    { url }: Service,
    sendOne: (worst: WorstBody) => Promise<number>,
    seconds: number,
  ): Promise<number[]> {
    const dear = worstBodies.filter(({ name }) => costs.slice(0, 5).some((each) => each.name === name));
    const until = performance.now() + 1000 * seconds;
    const sending = Array.from({ length: senders }, async (_, sender) => {
      for (let turn = sender; performance.now() < until; turn += 1) {
        const body = dear[turn % dear.length];
        if (body !== undefined) await sendOne(body);
      }
    });
    const times: number[] = [];
    while (performance.now() < until) {
      const began = performance.now();
      await fetchAway(`${url}/api/summary`, key);
      times.push(performance.now() - began);
    }
    await Promise.all(sending);
    return times;
  }
}
