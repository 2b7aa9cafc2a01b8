import type { Curtailment } from "../contract/curtailment.ts";
import type { Caller, MiningService } from "../contract/service.ts";
import type { Family, Metric, Value } from "./exposition.ts";

interface PlanMetric extends Metric {
  /** `running`: the curtailment of the plan that allows the least; undefined: none. */
  readonly read: (running: Curtailment | undefined) => Value;
}

const gauge = (name: string, help: string, read: PlanMetric["read"]): PlanMetric => ({
  name: `rigbridge_curtailment_${name}`,
  type: "gauge",
  help,
  read,
});

const metrics: readonly PlanMetric[] = [
  gauge("active", "1 while the plan is curtailed.", (running) => running !== undefined),
  gauge("target_watts", "Power that the rigs of the plan may take.", (running) => running?.power.target ?? null),
  gauge("now_watts", "Power that they take, as read.", (running) => running?.power.now ?? null),
  gauge("shed_watts", "Power that they take less than when it began.", (running) =>
    running === undefined ? null : Math.max(0, running.power.baseline - running.power.now),
  ),
];

const signalAge: Metric = {
  name: "rigbridge_signal_age_seconds",
  type: "gauge",
  help: "Time since a signal was last heard.",
};

/** The most curtailments that are looked at. */
const mostListed = 1_000;

/** The metrics of the curtailment plans and signals that a caller sees; none for a service without any. */
export async function curtailmentFamilies(service: MiningService, caller: Caller): Promise<readonly Family[]> {
  const features = await service.features();
  if (!features.has("listSignals") || !features.has("listCurtailmentPlans")) return [];
  const plans = await service.listCurtailmentPlans({}, caller);
  const signals = await service.listSignals({}, caller);
  const isRunning = plans.some(({ active }) => active !== null);
  const running = isRunning ? await service.listCurtailments({ active: true, limit: mostListed }, caller) : [];
  const ofPlan = plans.map(({ key }) => {
    const own = running.filter(({ plan, ended }) => plan === key && ended === null);
    return { key, strictest: own.toSorted((a, b) => a.power.target - b.power.target)[0] };
  });
  return [
    ...(plans.length === 0 ? [] : metrics).map(({ read, ...metric }) => ({
      metric,
      samples: ofPlan.map(({ key, strictest }) => [{ plan: key }, read(strictest)] as const),
    })),
    ...(signals.length === 0
      ? []
      : [{ metric: signalAge, samples: signals.map(({ key, age }) => [{ signal: key }, age] as const) }]),
  ];
}
