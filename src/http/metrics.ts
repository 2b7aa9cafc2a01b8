import { setImmediate as turn } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { inputOf } from "../contract/decode.ts";
import type { ActingLease } from "../contract/lease.ts";
import type { MqttStatus } from "../contract/mqtt-status.ts";
import { operations } from "../contract/operations.ts";
import type { RemoteWriteStatus } from "../contract/remote-write-status.ts";
import type { Caller, MiningService } from "../contract/service.ts";
import { curtailmentFamilies } from "../metrics/curtailment-metrics.ts";
import { familyText, heading, labelText } from "../metrics/exposition.ts";
import { facilityFamilies } from "../metrics/facility-metrics.ts";
import { farmFamilies, minerLabels, minersOf, StatusCounts } from "../metrics/farm-metrics.ts";
import { minerMetrics, minerSamples } from "../metrics/miner-metrics.ts";
import { callerOf } from "./caller.ts";
import { streamOf } from "./encoded.ts";
import { leaseSamples, mqttSamples } from "./health.ts";
import { metricsPath } from "./paths.ts";
import type { PendingAnswers } from "./pending-answers.ts";
import { processMetrics } from "./process-metrics.ts";

export interface MetricsOptions {
  readonly service: MiningService;
  readonly version: string;
  readonly pending: PendingAnswers;
  readonly mqtt?: () => MqttStatus | undefined;
  readonly remoteWrite?: () => RemoteWriteStatus | undefined;
  readonly lease: ActingLease | null;
}

/** GET /metrics in the Prometheus text format 0.0.4: the miners that the caller may see, and this process. */
export function addMetrics(
  app: FastifyInstance,
  { service, version, pending, mqtt, remoteWrite, lease }: MetricsOptions,
): void {
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
      const written = remoteWrite?.();
      const ofRemoteWrite = written === undefined ? "" : remoteWriteSamples(written);
      const ofLease = lease === null ? "" : leaseSamples(lease);
      const ofService = (await ofProcess()) + ofMqtt + ofRemoteWrite + ofLease;
      const chunks = [...(await ofMiners(caller)), Buffer.from(ofService)];
      expected = chunks.reduce((sum, chunk) => sum + chunk.length, atLeast);
      reply.headers({ "content-type": "text/plain; version=0.0.4; charset=utf-8", "cache-control": "no-store" });
      return reply.send(streamOf(chunks));
    },
  });
}

const remoteWriteSamples = ({ sent, dropped, waiting }: RemoteWriteStatus): string =>
  familyText({
    metric: {
      name: "rigbridge_remote_write_samples_total",
      type: "counter",
      help: "Samples of remote write: sent, or dropped because they were refused or had no room.",
    },
    samples: [
      [{ result: "sent" }, sent],
      [{ result: "dropped" }, dropped],
    ],
  }) +
  familyText({
    metric: { name: "rigbridge_remote_write_waiting_bytes", type: "gauge", help: "Samples that wait, compressed." },
    samples: [[{}, waiting]],
  });

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
  const counts = new StatusCounts();
  const turnPage = (): void => {
    for (const page of pages) {
      page.chunks.push(Buffer.from(page.text));
      page.text = "";
    }
  };
  let seen = 0;
  for (const [miner, group] of await minersOf(service, caller)) {
    counts.add(miner);
    const own = labelText(minerLabels(miner, group));
    for (const page of pages) page.text += minerSamples(page.metric, miner, own);
    seen += 1;
    if (seen % minersAtOnce !== 0) continue;
    turnPage();
    await turn();
  }
  turnPage();
  const sums = farmFamilies(counts, await service.getSummary({}, caller));
  const facility = await facilityFamilies(service, caller);
  const curtailment = await curtailmentFamilies(service, caller);
  return [
    Buffer.from([...sums, ...facility, ...curtailment].map(familyText).join("")),
    ...pages.flatMap(({ chunks }) => chunks),
  ];
}
