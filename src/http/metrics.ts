import { setImmediate as turn } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { inputOf } from "../contract/decode.ts";
import { groupsIn } from "../contract/miners-in.ts";
import { operations } from "../contract/operations.ts";
import { type Miner, minerStatuses } from "../contract/resources.ts";
import type { Caller, MiningService } from "../contract/service.ts";
import { callerOf } from "./caller.ts";
import { streamOf } from "./encoded.ts";
import { heading, labelText, type Metric, sample } from "./exposition.ts";
import { minerMetrics, minerSamples } from "./miner-metrics.ts";
import { metricsPath } from "./paths.ts";
import type { PendingAnswers } from "./pending-answers.ts";
import { processMetrics } from "./process-metrics.ts";

export interface MetricsOptions {
  readonly service: MiningService;
  readonly version: string;
  readonly pending: PendingAnswers;
}

/** GET /metrics in the Prometheus text format 0.0.4: the miners that the caller may see, and this process. */
export function addMetrics(app: FastifyInstance, { service, version, pending }: MetricsOptions): void {
  const ofProcess = processMetrics(app, version);
  // Whoever sees the summary sees the figures that it is made of.
  const decode = inputOf(operations.getSummary);
  /** What an answer takes, going by the last one: its length is not known before it is made. */
  let expected = atLeast;
  const ofMiners = coalesced((caller) => minersText(service, caller));

  app.route({
    method: ["GET", "HEAD"],
    url: metricsPath,
    handler: async (request, reply) => {
      const { userId } = decode({ params: {}, query: request.queryText, body: undefined });
      const caller = callerOf(request, userId);
      if (!pending.enter(request, reply, expected) && !(await pending.turn(request, reply, expected)))
        return reply.hijack();
      const chunks = [...(await ofMiners(caller)), Buffer.from(await ofProcess())];
      expected = chunks.reduce((sum, chunk) => sum + chunk.length, atLeast);
      reply.headers({ "content-type": "text/plain; version=0.0.4; charset=utf-8", "cache-control": "no-store" });
      return reply.send(streamOf(chunks));
    },
  });
}

/** Bytes, of compressing included: the first answer may be a big one, too. */
const atLeast = 2_000_000;

type Chunks = readonly Uint8Array[];

/** Whoever asks while an answer for the same eyes is being made gets that one. */
function coalesced(make: (caller: Caller) => Promise<Chunks>): (caller: Caller) => Promise<Chunks> {
  const underWay = new Map<number | undefined, Promise<Chunks>>();
  return (caller) => {
    const known = underWay.get(caller.userId);
    if (known !== undefined) return known;
    const made = make(caller).finally(() => underWay.delete(caller.userId));
    underWay.set(caller.userId, made);
    return made;
  };
}

/** Miners written before others have their turn. */
const minersAtOnce = 100;

/** Samples stand together by metric, so each metric is a page of its own that grows with every miner. */
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
  return [Buffer.from(countText(byStatus)), ...pages.flatMap(({ chunks }) => chunks)];
}

/** A rig that was never identified has no uid yet, and two may have one name: it is told from others by its id. */
const idLabels = ({ uid, id }: Miner): Readonly<Record<string, string>> =>
  uid === null ? { uid: "", id: String(id) } : { uid };

const minerCount: Metric = { name: "rigbridge_miners", type: "gauge", help: "Miners by status." };

const countText = (byStatus: ReadonlyMap<string, number>): string =>
  heading(minerCount) +
  [...byStatus].map(([status, count]) => sample(minerCount.name, labelText({ status }), count)).join("");

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
