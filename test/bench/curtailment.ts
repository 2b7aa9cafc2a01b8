import type { z } from "zod";
import { Curtailment, CurtailmentPreview } from "../../src/contract/curtailment.ts";
import { Service, startFarm, wait } from "./rigs.ts";
import { type Measured, measured } from "./statistics.ts";

const key = "benchmark-benchmark";
const headers = { "x-api-key": key, "content-type": "application/json" };
const target = { all: true };

/** All rigs of a farm are stopped: how long the preview takes, the first command, and nine tenths of them. */
export async function curtailment(quick: boolean): Promise<Measured[]> {
  const count = quick ? 60 : 5_000;
  const farm = await startFarm(count, { kinds: ["axeos"] });
  const service = new Service();
  try {
    await service.start(farm.rigs, { key });
    await service.readBy(count, 1);
    const ask = async <T>(method: string, path: string, reply: z.ZodType<T>, body?: object): Promise<T> => {
      const init = body === undefined ? {} : { body: JSON.stringify(body) };
      const answer = await fetch(`${service.url}/api/curtailments${path}`, { method, headers, ...init });
      return reply.parse(await answer.json());
    };
    const previews: number[] = [];
    for (let round = 0; round < (quick ? 2 : 6); round += 1) {
      const began = performance.now();
      const { stopped } = await ask("POST", "/preview", CurtailmentPreview, { target });
      if (stopped !== count) throw new Error(`the preview stops ${stopped} of ${count} rigs`);
      if (round > 0) previews.push((1000 * (performance.now() - began)) / count);
    }
    const began = performance.now();
    const seconds = (): number => (performance.now() - began) / 1000;
    const wanted = { target, level: "off", reason: "benchmark", ramp: { parallel: 1_000 } };
    const { id } = await ask("POST", "", Curtailment, wanted);
    const first = seconds();
    let most: number | null = null;
    for (;;) {
      const { state, rigs, power } = await ask("GET", `/${id}`, Curtailment);
      if (most === null && rigs.sent + rigs.reached >= 0.9 * count) most = seconds();
      if (state === "holding") {
        const all = `all after ${seconds().toFixed(1)} s, ${rigs.failed} failed, ${power.now} of ${power.baseline} W left`;
        return [
          measured("curtailment.preview.us", previews, `${count} rigs`),
          measured("curtailment.first.ms", [1000 * first], "until the answer, with which the first are sent"),
          measured("curtailment.most.seconds", [most ?? seconds()], all),
        ];
      }
      await wait(100);
    }
  } finally {
    await Promise.all([service.end(), farm.end()]);
  }
}
