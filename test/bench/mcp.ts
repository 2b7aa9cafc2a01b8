import { Service, startFarm } from "./rigs.ts";
import { type Measured, measured } from "./statistics.ts";

const rarely = 3600;
const key = "benchmark-benchmark";

/** A page of `list_rigs` over POST /mcp: the hottest of all rigs. */
export async function mcp(quick: boolean): Promise<Measured[]> {
  const rigs = quick ? 200 : 10_000;
  const farm = await startFarm(rigs);
  const service = new Service();
  await service.start(farm.rigs, { interval: rarely, key });
  await service.readAll(rigs);
  const params = { name: "list_rigs", arguments: { sort: "temperature" } };
  const call = async (): Promise<number> => {
    const answer = await fetch(`${service.url}/mcp`, {
      method: "POST",
      headers: {
        "x-api-key": key,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
    });
    const text = await answer.text();
    if (!text.includes(`\\"total\\":${rigs},`)) throw new Error(`list_rigs answered ${text.slice(0, 300)}`);
    return text.length;
  };
  const costs: number[] = [];
  let bytes = 0;
  for (let round = 0; round <= (quick ? 1 : 5); round += 1) {
    const before = await service.child.cpu();
    for (let turn = 0; turn < 10; turn += 1) bytes = await call();
    if (round > 0) costs.push(((await service.child.cpu()) - before) / 10 / 1000);
  }
  await Promise.all([service.end(), farm.end()]);
  return [measured("mcp.10000.cpu.ms", costs, `a page of 50 rigs, ${bytes} bytes`)];
}
