import { setImmediate as turn } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { inputOf } from "../contract/decode.ts";
import { groupsIn } from "../contract/miners-in.ts";
import type { MqttStatus } from "../contract/mqtt-status.ts";
import { operations } from "../contract/operations.ts";
import { type Miner, minerStatuses, type Summary } from "../contract/resources.ts";
import type { Caller, MiningService } from "../contract/service.ts";
import { callerOf } from "./caller.ts";
import { streamOf } from "./encoded.ts";
import { heading, labelText, type Metric, sample } from "./exposition.ts";
import { mqttSamples } from "./health.ts";
import { minerMetrics, minerSamples, secondsPerHour } from "./miner-metrics.ts";
import { metricsPath } from "./paths.ts";
import type { PendingAnswers } from "./pending-answers.ts";
import { processMetrics } from "./process-metrics.ts";

export interface MetricsOptions {
  readonly service: MiningService;
  readonly version: string;
  readonly pending: PendingAnswers;
  readonly mqtt?: () => MqttStatus | undefined;
}

/** GET /metrics in the Prometheus text format 0.0.4: the miners that the caller may see, and this process. */
export function addMetrics(app: FastifyInstance, { service, version, pending, mqtt }: MetricsOptions): void {
  const ofProcess = processMetrics(app, version, () => service.workers?.() ?? []);
  // Requires the same access as the summary, which shows the same figures.
  const decode = inputOf(operations.getSummary);
  /** Expected bytes of the answer, based on the last one. */
  let expected = atLeast;
  const ofMiners = coalesced((caller) => minersText(service, caller));

  app.route({
    method: ["GET", "HEAD"],
    url: metricsPath,
    handler: async (request, reply) => {
      const { userId } = decode({ params: {}, query: request.queryText, body: undefined });
      const caller = callerOf(request.admitted, userId);
      if (!pending.enter(request, reply, expected) && !(await pending.turn(request, reply, expected)))
        return reply.hijack();
      const status = mqtt?.();
      const ofMqtt = status === undefined ? "" : mqttSamples(status);
      const chunks = [...(await ofMiners(caller)), Buffer.from((await ofProcess()) + ofMqtt)];
      expected = chunks.reduce((sum, chunk) => sum + chunk.length, atLeast);
      reply.headers({ "content-type": "text/plain; version=0.0.4; charset=utf-8", "cache-control": "no-store" });
      return reply.send(streamOf(chunks));
    },
  });
}

/** Bytes, including compression: the first answer may be big as well. */
const atLeast = 2_000_000;

type Chunks = readonly Uint8Array[];

/** Concurrent requests of the same user share one answer. */
function coalesced(make: (caller: Caller) => Promise<Chunks>): (caller: Caller) => Promise<Chunks> {
  const pending = new Map<number | undefined, Promise<Chunks>>();
  return (caller) => {
    const known = pending.get(caller.userId);
    if (known !== undefined) return known;
    const made = make(caller).finally(() => pending.delete(caller.userId));
    pending.set(caller.userId, made);
    return made;
  };
}

/** Miners written before yielding to other requests. */
const minersAtOnce = 100;

/** The format groups samples by metric, so each metric has a page that grows with every miner. */
async function minersText(service: MiningService, caller: Caller): Promise<Chunks> {
  const pages = minerMetrics.map((metric) => ({ metric, chunks: [Buffer.from(heading(metric))], text: "" }));
  const byStatus = new Map<string, number>(minerStatuses.map((status) => [status, 0]));
  const turnPage = (): void => {
    for (const page of pages) {
      page.chunks.push(Buffer.from(page.text));
      page.text = "";
    }
  };
  let seen = 0;
  for (const [miner, group] of await minersOf(service, caller)) {
    const status = miner.statusInfo.statusDisplay;
    byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
    const own = labelText({ ...idLabels(miner), name: miner.name, group, model: miner.hardware });
    for (const page of pages) page.text += minerSamples(page.metric, miner, own);
    seen += 1;
    if (seen % minersAtOnce !== 0) continue;
    turnPage();
    await turn();
  }
  turnPage();
  const sums = energyText(await service.getSummary({}, caller));
  return [Buffer.from(countText(byStatus) + sums), ...pages.flatMap(({ chunks }) => chunks)];
}

/** A rig that was never identified has no uid, and names are not unique, so it gets its id. */
const idLabels = ({ uid, id }: Miner): Readonly<Record<string, string>> =>
  uid === null ? { uid: "", id: String(id) } : { uid };

const minerCount: Metric = { name: "rigbridge_miners", type: "gauge", help: "Miners by status." };

const countText = (byStatus: ReadonlyMap<string, number>): string =>
  heading(minerCount) +
  [...byStatus].map(([status, count]) => sample(minerCount.name, labelText({ status }), count)).join("");

const energies: Readonly<Record<"all" | "group", Metric>> = {
  all: {
    name: "rigbridge_energy_joules_total",
    type: "counter",
    help: "Energy used by all miners, also those removed since.",
  },
  group: {
    name: "rigbridge_group_energy_joules_total",
    type: "counter",
    help: "Energy used by the miners of a group and its subgroups while they were in it.",
  },
};

const joules = (wattHours: number | null): number | null => (wattHours === null ? null : wattHours * secondsPerHour);

const energyText = ({ energy = null, groupList = [] }: Summary): string =>
  heading(energies.all) +
  sample(energies.all.name, "", joules(energy)) +
  heading(energies.group) +
  groupList
    .map((group) =>
      sample(energies.group.name, labelText({ group: group.name, id: String(group.id) }), joules(group.energy)),
    )
    .join("");

type Grouped = readonly [miner: Miner, group: string];

/** Every miner that the caller may see, with the name of its group. */
async function minersOf(service: MiningService, caller: Caller): Promise<Iterable<Grouped>> {
  if (service.eachMiner === undefined)
    return groupsIn((await service.listMiners({}, caller)).groupList).flatMap(({ id, name, minerList }) =>
      minerList.map((miner): Grouped => [miner, id === 0 ? "" : name]),
    );
  const groups = await service.listGroups({}, caller);
  return named(service.eachMiner(caller), new Map(groups.map(({ id, name }) => [id, name])));
}

function* named(miners: Iterable<Miner>, groups: ReadonlyMap<number, string>): Iterable<Grouped> {
  for (const miner of miners) yield [miner, groups.get(miner.groupId) ?? ""];
}
