import { CurtailmentPlanBody } from "../../../src/contract/curtailment.ts";
import type { Messages, ReceivedMessage } from "../../../src/contract/messages.ts";
import type { Reply } from "../../../src/contract/service.ts";
import type { RigSpec } from "../../../src/simulator/index.ts";
import { caller } from "../bench.ts";
import { curtailmentBench, whatsminer } from "./curtailment-bench.ts";

export const hooks = [{ name: "grid", secret: "0123456789abcdef" }];

/** A service with one signal for the plan "peak", whose clock and turns a test holds. */
export async function signalBench(
  signal: object,
  { rigs = [whatsminer, whatsminer] }: { rigs?: readonly RigSpec[] } = {},
) {
  const listeners = new Map<string, (message: ReceivedMessage) => void>();
  const messages: Messages = {
    isConfigured: true,
    listen: (topic, handle) => {
      listeners.set(topic, handle);
      return () => void listeners.delete(topic);
    },
    publish: () => true,
  };
  const settings = { key: "grid", name: "Grid", plan: "peak", ...signal };
  const bench = await curtailmentBench(
    rigs,
    { hooks, mqtt: { url: "mqtt://127.0.0.1" }, signals: [settings] },
    { messages },
  );
  const { service } = bench.bench;
  const plan = CurtailmentPlanBody.parse({ key: "peak", target: { all: true } });
  await service.addCurtailmentPlan(plan, caller);
  await bench.turn(10);
  return {
    ...bench,
    settings,
    say: (payload: string, { at = bench.now(), retained = false } = {}) =>
      listeners.get("maestro/target")?.({ payload, at, retained }),
    view: async (): Promise<Reply<"listSignals">[number] | undefined> =>
      (await bench.bench.service.listSignals({}, caller))[0],
    /** Newest first. */
    curtailments: () => bench.bench.service.listCurtailments({ limit: 100 }, caller),
  };
}
