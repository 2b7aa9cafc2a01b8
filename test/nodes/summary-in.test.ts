import { afterEach, describe, expect, test } from "@jest/globals";
import registerService from "../../nodes/service/rigbridge-service.ts";
import type { Farm } from "../../nodes/shared/farm-connection.ts";
import { SummaryReporter, type SummaryReporterOptions, summaryMessage } from "../../nodes/summary-in/reporter.ts";
import registerSummary from "../../nodes/summary-in/rigbridge-summary-in.ts";
import type { Miner, Summary } from "../../src/index.ts";
import { miner, notAsked, off, readings } from "../homebridge/miners.ts";
import { until } from "../until.ts";
import { type BenchFlow, openFlow } from "./bench-flow.ts";
import { HeldClock } from "./held-clock.ts";
import { type OpenedForNodes, openElsewhere, serviceKinds } from "./service-kinds.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

type Fields = Readonly<Record<string, unknown>>;

async function open(service: OpenedForNodes, fields: Fields): Promise<BenchFlow> {
  const summary = { id: "in", type: "rigbridge-summary-in", version: 1, service: "service", wires: [["out"]] };
  const flow = [{ ...service.node }, { ...summary, ...fields }, { id: "out", type: "helper" }];
  const { credentials, userDir } = service;
  const bench = await openFlow([registerService, registerSummary], flow, { credentials, userDir });
  closers.push(() => bench.close());
  return bench;
}

const openService = async <T extends OpenedForNodes>(kind: { open(): Promise<T> }): Promise<T> => {
  const service = await kind.open();
  closers.push(() => service.close());
  return service;
};

const detailsOf = (bench: BenchFlow) => () =>
  JSON.stringify([bench.recorded("in"), bench.recorded("out")]).slice(0, 5000);

describe.each(serviceKinds)("a summary in on $name", (kind) => {
  test("sends the totals as numbers, and the service's own summary", async () => {
    const service = await openService(kind);
    const bench = await open(service, {});
    await until(() => bench.recorded("out").messages.length > 0, "the first summary of the farm", {
      details: detailsOf(bench),
    });
    expect(bench.recorded("out").messages[0]).toMatchObject({
      payload: {
        miners: service.miners.length,
        miners_mining: expect.any(Number),
        power: expect.any(Number),
        hashrates: expect.any(Object),
      },
      topic: "summary",
      summary: { totalCount: service.miners.length },
    });
    expect(bench.recorded("in").statuses.at(-1)).toMatch(
      new RegExp(`^green dot \\d+ of ${service.miners.length} mining ·`),
    );
  });

  test("reports a removed miner", async () => {
    const service = await openService(kind);
    const bench = await open(service, { pace: 1 });
    await until(() => bench.recorded("out").messages.length > 0, "the first summary of the farm", {
      details: detailsOf(bench),
    });
    const offline = (): unknown => payloadIn(bench.recorded("out").messages.at(-1)).miners_offline;
    const before = Number(offline());
    service.switchOff(service.steered);
    await until(() => offline() === before + 1, "the summary to count the offline miner", {
      details: detailsOf(bench),
    });
  });
});

const payloadIn = (msg: { readonly payload?: unknown } | undefined): Fields =>
  typeof msg?.payload === "object" && msg.payload !== null ? { ...msg.payload } : {};

describe("a summary in", () => {
  test.each<[Fields, string]>([
    [{ onChange: false, every: "0" }, "Every: is 0, so no message would ever be sent"],
    [{ pace: "fast" }, "At most every: must be a number in the allowed range"],
    [{ every: -1 }, "Every: must be a number in the allowed range"],
    [{ onChange: "yes" }, "has the wrong type"],
    [{ service: "" }, "Service: is missing"],
    [{ service: "gone" }, "Service: choose a service and deploy"],
  ])("with %j stands still and gives the reason", async (fields, words) => {
    const service = await openService({ open: openElsewhere });
    const bench = await open(service, fields);
    expect(bench.recorded("in").warnings[0]).toContain(words);
  });
});

const summary: Summary = {
  runningCount: 1,
  totalCount: 2,
  gpuCount: 0,
  pgaCount: 0,
  asicCount: 0,
  exchangeRate: "",
  revenuePerDay: "",
  revenuePerMonth: "",
  coinList: [],
  algorithmList: [],
  metaData: { updated: "then", edition: "", version: "", infoList: [], warningList: [] },
};

const drawing = (id: number, power: number, changes: Partial<Miner["readings"]> = {}): Miner =>
  miner({ id, readings: readings({ power, hashrate: 1e12, algorithm: "SHA-256", ...changes }) });

const farmOf = (...miners: readonly Miner[]): Farm & { readonly miners: Map<number, Miner> } => ({
  groups: [],
  summary,
  features: new Set(),
  miners: new Map(miners.map((each) => [each.id, each])),
});

describe("the summary", () => {
  function watch(changes: Partial<SummaryReporterOptions>) {
    const clock = new HeldClock();
    const sent: (number | null)[] = [];
    const options = { onChange: true, minIntervalMs: 30_000, repeatMs: null, clock, ...changes };
    const summaries = new SummaryReporter({ ...options, send: ({ payload: { power } }) => sent.push(power) });
    closers.push(async () => {
      summaries.close();
      expect(clock.waiting).toBe(0);
    });
    return { clock, sent, summaries };
  }

  test("adds up the miners, by algorithm, with null if no miner reports a value", () => {
    const gone = off({ id: 3, readings: readings({ stale: true }) });
    const miners = [drawing(1, 100), drawing(2, 50, { algorithm: "Scrypt", hashrate: 5 }), gone];
    expect(summaryMessage(miners, { ...summary, energy: 1500 }).payload.energy).toBe(1500);
    expect(summaryMessage(miners, summary).payload).toMatchObject({
      miners: 3,
      miners_mining: 2,
      miners_offline: 1,
      power: 150,
      energy: null,
      hashrate: null,
      hashrates: { "SHA-256": 1e12, Scrypt: 5 },
    });
    expect(summaryMessage([], summary).payload).toMatchObject({
      miners: 0,
      power: null,
      hashrate: null,
      hashrates: {},
    });
  });

  test("is sent when it changes, at most at the minimum interval, and never for time alone", () => {
    const { clock, sent, summaries } = watch({});
    const farm = farmOf(drawing(1, 100));
    summaries.member.read?.(farm);
    clock.pass(0);
    for (const power of [110, 120, 130]) {
      farm.miners.set(1, drawing(1, power));
      summaries.member.miner?.(drawing(1, power));
      clock.pass(5);
    }
    expect(sent).toEqual([100]);
    clock.pass(15);
    expect(sent).toEqual([100, 130]);
    summaries.member.summary?.({ ...summary, metaData: { ...summary.metaData, updated: "now" } });
    clock.pass(300);
    expect(sent).toEqual([100, 130]);
  });

  test("is sent at its interval without a change, and at changes only if configured", () => {
    const { clock, sent, summaries } = watch({ onChange: false, repeatMs: 60_000 });
    const farm = farmOf(drawing(1, 100));
    summaries.member.read?.(farm);
    clock.pass(0);
    farm.miners.set(1, drawing(1, 110));
    summaries.member.miner?.(drawing(1, 110));
    clock.pass(59);
    expect(sent).toEqual([100]);
    clock.pass(61);
    expect(sent).toEqual([100, 110, 110]);
  });

  test("waits until every miner was read, and is not sent while the service is lost", () => {
    const { clock, sent, summaries } = watch({ repeatMs: 60_000 });
    const farm = farmOf(drawing(1, 100), notAsked({ id: 2 }));
    summaries.member.read?.(farm);
    clock.pass(60);
    expect(sent).toEqual([]);
    farm.miners.set(2, drawing(2, 50));
    summaries.member.miner?.(drawing(2, 50));
    clock.pass(0);
    expect(sent).toEqual([150]);
    summaries.member.phase?.({ kind: "connecting" });
    farm.miners.set(2, off({ id: 2, readings: readings({ stale: true }) }));
    summaries.member.miner?.(drawing(2, 50));
    clock.pass(600);
    expect(sent).toEqual([150]);
    farm.miners.set(2, drawing(2, 60));
    summaries.member.phase?.({ kind: "connected" });
    clock.pass(0);
    expect(sent).toEqual([150, 160]);
    // The service has been restarted.
    farm.miners.set(2, notAsked({ id: 2 }));
    summaries.member.read?.(farm);
    clock.pass(600);
    expect(sent).toEqual([150, 160]);
  });
});
