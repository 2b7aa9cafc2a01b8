import { writeFileSync } from "node:fs";
import { GpuReader } from "../../../src/agent/gpus/gpu-reader.ts";
import { GpuTuner } from "../../../src/agent/gpus/gpu-tuner.ts";
import { limits } from "../../until.ts";

/** An agent that sets a card, and stops for good right before its setting number `stopAt`, where it is killed. */
interface Args {
  readonly path: string;
  readonly root: string;
  readonly journal: string;
  readonly reached: string;
  readonly stopAt: number;
}
const { path, root, journal, reached, stopAt }: Args = JSON.parse(process.argv[2] ?? "");

let uses = 0;
const options = { root, timeoutMs: limits.waitMs, log: () => undefined };
const reader = new GpuReader({ ...options, env: { PATH: path } });
const tuner = new GpuTuner({
  ...options,
  reader,
  journal,
  // Read once for each setting.
  get env() {
    uses += 1;
    if (uses === stopAt) {
      writeFileSync(reached, "");
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    }
    return { PATH: path };
  },
});
const none = { memoryClock: null, fan: null };
await tuner.apply(1, [{ bus: 1, powerLimit: 200, coreClock: 1_500e6, ...none }]);
