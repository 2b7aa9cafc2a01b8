import { createServer } from "node:http";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { until } from "../until.ts";
import { type ExampleName, type RunningExample, runExamples, type Shortened } from "./examples-flow.ts";
import { curesSite, elsewhereSite, insideSite, referenceSite, type Site, type SiteRig } from "./examples-sites.ts";
import { type NodeRed, startNodeRed, type Version } from "./real-node-red.ts";

const closers: (() => Promise<unknown>)[] = [];

/** Receives alerts; shared, since its address is in the environment of Node-RED. */
const alerts: Record<string, unknown>[] = [];
const endpoint = createServer((request, response) => {
  let body = "";
  request.on("data", (chunk) => (body += chunk));
  request.on("end", () => {
    alerts.push(z.record(z.string(), z.unknown()).parse(JSON.parse(body)));
    response.end("thank you");
  });
});

function alertUrl(): string {
  const address = endpoint.address();
  return typeof address === "object" && address !== null ? `http://127.0.0.1:${address.port}/hook` : "";
}

interface Run {
  readonly flow: RunningExample;
  readonly site: Site;
  readonly first: SiteRig;
  readonly second: SiteRig;
}

interface Kind {
  readonly kind: string;
  readonly site: () => Promise<Site>;
}

const inside = { kind: "a service inside Node-RED", site: insideSite };
const elsewhere = { kind: "a Rigbridge elsewhere", site: elsewhereSite };
const reference = { kind: "the reference product", site: referenceSite };

/** No pool answers, so the rig does not hash, which a restart does not fix. */
const losePools = ({ model }: SiteRig, isLost: boolean): void => {
  for (const index of model.pools.keys()) model.setPoolAlive(index, !isLost);
};

/** Each flow in this Node-RED: in 5 on these kinds of service, in 4.1 on Rigbridge elsewhere. */
export function describeExamples(version: Version): void {
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });
  let red: NodeRed | null = null;
  beforeAll(async () => {
    await new Promise<void>((resolve) => endpoint.listen(0, "127.0.0.1", resolve));
    red = await startNodeRed(version, version === 5 ? { env: { ALERT_URL: alertUrl() } } : {});
  });
  afterAll(async () => {
    await red?.close();
    await new Promise((resolve) => endpoint.close(resolve));
  });
  const on = (...kinds: readonly Kind[]) => (version === 5 ? kinds : [elsewhere]);

  async function run(
    name: ExampleName,
    openSite: () => Promise<Site>,
    options: { readonly shortened?: Shortened; readonly env?: Readonly<Record<string, unknown>> } = {},
  ): Promise<Run> {
    if (red === null) throw new Error("Node-RED does not run");
    const deploy = red.deploy;
    const site = await openSite();
    closers.push(() => site.close());
    const flow = await runExamples(red, [name], site, options);
    closers.push(() => deploy([]));
    const [first, second] = site.rigs;
    if (first === undefined || second === undefined) throw new Error("Two rigs are needed");
    return { flow, site, first, second };
  }

  describe.each(on(inside))("automatic restart on $kind", ({ site }) => {
    test("restarts three times, then alerts, and counts from zero once the rig has recovered", async () => {
      // Ten minutes and half an hour.
      const shortened = {
        "low for 10 min": { hold: 1 },
        "healthy for 30 min": { hold: 1 },
        "every 10 min": { duration: "-1", units: "s" },
      };
      const { flow, site: farm, first: ill } = await run("automatic-restart", site, { shortened });
      const startedAt = ill.model.startedAt;
      losePools(ill, true);
      await until(
        () => {
          farm.pass(2);
          // The rig may answer the third restart later than the alert is sent.
          return flow.messages("alert").length > 0 && flow.messages("restarted").length >= 3;
        },
        "the message that three restarts did not help, and the answers to them",
        { details: flow.details },
      );
      expect(flow.messages("alert")).toEqual([
        expect.objectContaining({ payload: `${ill.name} was restarted 3 times, and its hash rate is still too low.` }),
      ]);
      expect(ill.model.startedAt).toBeGreaterThan(startedAt);
      expect(flow.messages("restarted").map(({ miner }) => z.object({ name: z.string() }).parse(miner).name)).toEqual([
        ...Array(3).fill(ill.name),
      ]);
      losePools(ill, false);
      await until(
        async () => {
          farm.pass(20);
          return !/:3/.test(await flow.context("three attempts", "tries"));
        },
        "the flow to reset the three attempts",
        { details: flow.details },
      );
      losePools(ill, true);
      await until(
        () => {
          farm.pass(2);
          return flow.messages("restarted").length === 4;
        },
        "the fourth restart of the rig",
        { details: flow.details },
      );
      expect(flow.messages("alert")).toHaveLength(1);
      expect(flow.troubles()).toEqual([]);
    });
  });

  describe.each(on(reference, elsewhere))("low hash rate by average on $kind", ({ site }) => {
    test("warns of a rig that is below its limit", async () => {
      const shortened = { "below 80 % of its average": { hold: 1 }, "below 90 TH/s": { hold: 1 } };
      const { flow, site: farm, first: ill } = await run("low-hash-rate-by-average", site, { shortened });
      losePools(ill, true);
      await until(
        () => {
          farm.pass(2);
          return flow.messages("alert").some(({ payload }) => String(payload).startsWith(ill.name));
        },
        "the warning about the rig",
        { details: flow.details },
      );
      expect(flow.messages("alert")).toContainEqual(
        expect.objectContaining({ payload: expect.stringMatching(`^${ill.name} hashes with [\\d.]+ (%|TH/s)$`) }),
      );
      expect(flow.troubles()).toEqual([]);
    });
  });

  describe.each(on(elsewhere))("solar surplus on $kind", ({ site }) => {
    test("limits the rig to the surplus, stops it, starts it with more, and stops it without meter values", async () => {
      // Two minutes, and a quarter of an hour.
      const shortened = { "nothing for 15 min": { duration: "3", units: "s" } };
      const { flow, site: farm, first: rig } = await run("solar-surplus", site, { shortened, env: { HOLD: 1 } });
      const draw = () => {
        rig.model.advance();
        return rig.model.power;
      };
      /** Posts meter values at a constant solar power until the condition holds. */
      const sunny = (roof: number, awaited: string, holds: () => boolean) =>
        until(
          async () => {
            expect((await flow.post("/surplus", Math.round(roof - draw()))).status).toBe(202);
            farm.pass(2);
            return holds();
          },
          awaited,
          { details: flow.details },
        );
      expect((await flow.post("/surplus", "much")).status).toBe(400);
      await sunny(2000, "the rig to draw no more than there is", () => draw() < 2100);
      expect(rig.model.mining).toBe(true);
      expect(draw()).toBeGreaterThan(1000);
      await sunny(300, "the rig to stop with too little sun", () => !rig.model.mining);
      // Enough to keep running, not to start.
      await sunny(600, "the flow to leave the rig stopped", () =>
        /^\d+ W: none$/.test(flow.status("power for the rig")),
      );
      expect(rig.model.mining).toBe(false);
      await sunny(5000, "the rig to start with more sun", () => rig.model.mining && draw() > 2000);
      await until(() => !rig.model.mining, "the rig to stop without meter values", { details: flow.details });
      expect(flow.troubles()).toEqual([]);
    });
  });

  describe.each(on(elsewhere))("solar surplus by the service on $kind", ({ site }) => {
    test("reports the surplus to the service, whose rigs follow", async () => {
      const { flow, first, second } = await run("solar-surplus-by-service", site);
      expect((await flow.post("/roof", -9000)).status).toBe(202);
      await until(() => flow.messages("done").length === 1, "the answer to the roof's surplus", {
        details: flow.details,
      });
      expect(flow.messages("done")[0]).toMatchObject({ payload: { message: "Roof has -9000 W" } });
      await until(() => !first.model.mining && !second.model.mining, "both rigs to stop", { details: flow.details });
      expect((await flow.post("/roof", "")).status).toBe(400);
      expect(flow.troubles()).toEqual([]);
    });
  });

  test("two cures on a Rigbridge elsewhere: a power cycle, and a restart, each once", async () => {
    // Five minutes, and ten.
    const shortened = {
      "still away after 5 min": { duration: "1", units: "s" },
      // Longer than a rig that has just been switched on reports a low hash rate.
      "low for 10 min": { hold: 3 },
    };
    const { flow, site: farm, first: slow, second: away } = await run("two-cures", curesSite, { shortened });
    const namesAt = (node: string) =>
      flow.messages(node).map(({ miner }) => z.object({ name: z.string() }).parse(miner).name);
    const waitFor = (node: string, count: number) =>
      until(
        () => {
          farm.pass(2);
          return flow.messages(node).length >= count;
        },
        `${count} messages at ${node}`,
        { details: flow.details },
      );
    away.switchOff();
    await waitFor("power-cycled", 1);
    // The plug has switched it on.
    await until(
      () => {
        farm.pass(60);
        return flow.known().some(({ name, mining }) => name === away.name && mining === true);
      },
      "the rig to mine again",
      { details: flow.details },
    );
    const { startedAt } = slow.model;
    losePools(slow, true);
    await waitFor("restarted", 1);
    expect(namesAt("restarted")).toEqual([slow.name]);
    expect(slow.model.startedAt).toBeGreaterThan(startedAt);
    losePools(slow, false);
    await waitFor("recovered", 1);
    // Within the hour nothing more is done.
    const isBelow = () => /^1 of 2 below/.test(flow.status("low for 10 min"));
    await until(() => !isBelow(), "the status of the node to follow", { details: flow.details });
    losePools(slow, true);
    await until(
      () => {
        farm.pass(2);
        return isBelow();
      },
      "the rig to be too slow again",
      { details: flow.details },
    );
    losePools(slow, false);
    await waitFor("recovered", 2);
    expect([namesAt("power-cycled"), namesAt("restarted")]).toEqual([[away.name], [slow.name]]);
    expect(flow.troubles()).toEqual([]);
  });

  describe.each(on(inside))("price-driven mining on $kind", ({ site }) => {
    test("stops all miners above the limit, and starts them once the price is below it by the hysteresis", async () => {
      const { flow, site: farm } = await run("price-driven-mining", site);
      const those = farm.rigs.filter(({ model }) => model.mining);
      const price = async (price: number, isMining: boolean) => {
        expect((await flow.post("/power-price", price)).status).toBe(202);
        await until(
          () => {
            farm.pass(2);
            return those.every(({ name }) =>
              flow.known().some((each) => each.name === name && each.mining === isMining),
            );
          },
          `every miner to ${isMining ? "mine" : "stop"} at a price of ${price}`,
          { details: flow.details },
        );
      };
      await price(0.2, true);
      await price(0.35, false);
      await price(0.19, false);
      await price(0.12, true);
      const sent = () => z.array(z.object({ command: z.string(), price: z.number() })).parse(flow.messages("done"));
      await until(
        () => sent().filter(({ price }) => price === 0.12).length >= those.length,
        "a start command for every miner",
        { details: flow.details },
      );
      const commands = sent().map(({ command, price }) => `${command} ${price}`);
      expect([...new Set(commands)]).toEqual(["stop 0.35", "start 0.12"]);
      expect(commands.filter((each) => each === "stop 0.35")).toHaveLength(those.length);
      expect((await flow.post("/coin-profit", 4.2e-13)).status).toBe(202);
      await until(() => flow.messages("set").length === 1, "the confirmation of the coin's profit", {
        details: flow.details,
      });
      expect(flow.messages("set")[0]).toMatchObject({ topic: "BTC", payload: { success: true } });
    });
  });

  describe.each(on(inside, reference))("daily report on $kind", ({ kind, site }) => {
    test("builds a text from the summary, and from the history if the service has one", async () => {
      const { flow, first } = await run("daily-report", site);
      await until(
        async () => /miners_mining/.test(await flow.context(null, "summary")),
        "the summary in the flow's context",
        { details: flow.details },
      );
      await flow.press("at 08:00");
      await until(() => flow.messages("report").length === 1, "the daily report", { details: flow.details });
      const report = z.string().parse(flow.messages("report")[0]?.payload);
      expect(report).toMatch(/^Miners, .*\n\d+ of \d+ mining, \d+ offline\./);
      if (kind === reference.kind) expect(report).not.toContain(first.name);
      else expect(report).toMatch(/\nRig A: \d+\.\d TH\/s, .*up to \d+ °C\nRig B: /);
      expect(flow.troubles()).toEqual([]);
    });
  });

  describe.each(on(inside, reference))("alert by HTTP on $kind", ({ site }) => {
    test("sends a new warning to the address from the environment, and nothing without an address", async () => {
      alerts.splice(0);
      // Half a minute, if no event announces it.
      // Notifications at the first poll are not new; the client and the node must have polled.
      const hasPolled = ({ polls }: Site) => polls() > 2;
      const shortened = { "new warnings": { interval: 1 } };
      // This environment has no address; later the flow has one.
      if (version === 4) {
        const { flow, site: farm, first } = await run("alert-by-http", site, { shortened });
        await until(() => hasPolled(farm), "the node to read the notifications", { details: flow.details });
        first.switchOff();
        await until(() => flow.messages("not set, not sent").length === 1, "the alert without an address", {
          details: flow.details,
        });
        expect(alerts).toEqual([]);
      }
      const env = version === 5 ? {} : { ALERT_URL: alertUrl() };
      const { flow, site: farm, first } = await run("alert-by-http", site, { shortened, env });
      await until(() => hasPolled(farm), "the node to read the notifications", { details: flow.details });
      first.switchOff();
      await until(() => flow.messages("sent").length === 1, "the alert to be sent", { details: flow.details });
      expect(alerts).toEqual([
        { title: expect.anything(), message: expect.any(String), miner: first.name, time: expect.any(String) },
      ]);
      expect(flow.troubles()).toEqual([]);
    });
  });

  describe.each(on(inside))("pause while something runs on $kind", ({ site }) => {
    test("stops the mining rigs, and starts only those again", async () => {
      const { flow, first, second: stopped } = await run("pause-while-something-runs", site);
      stopped.stop();
      const isKnown = () => flow.known().some(({ name, mining }) => name === stopped.name && mining === false);
      await until(isKnown, "the service to show the second rig as stopped", { details: flow.details });
      const send = async (runs: number, isMining: boolean) => {
        expect((await flow.post("/dishwasher", runs)).status).toBe(202);
        await until(() => first.model.mining === isMining, `the rig to ${isMining ? "start again" : "stop"}`, {
          details: flow.details,
        });
      };
      await send(1, false);
      await send(0, true);
      expect(stopped.model.mining).toBe(false);
      expect(flow.troubles()).toEqual([]);
    });
  });
}
