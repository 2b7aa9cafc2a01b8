import { afterEach, describe, expect, test } from "@jest/globals";
import { OpenAdrClient } from "../../../src/service/curtailment/signals/openadr-client.ts";
import { startVtn, type VirtualVtn, type VtnFault } from "../../../src/simulator/index.ts";
import { problem } from "../../errors.ts";
import { ownHost } from "../../own-host.ts";
import { closeBenches } from "../bench.ts";
import { whatsminer } from "./curtailment-bench.ts";
import { signalBench } from "./signal-bench.ts";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  await closeBenches();
  for (const close of closing.splice(0).reverse()) await close();
});

const login = { clientId: "ven-1", clientSecret: "the secret of the VEN" };
const levels = { moderate: 75, high: 50, emergency: 0 };

async function vtn(): Promise<VirtualVtn> {
  const server = await startVtn({ host: ownHost(), login });
  server.programs = [{ id: "p1", objectType: "PROGRAM", programName: "Load response" }];
  closing.push(() => server.close());
  return server;
}

async function openAdrBench(more: object = {}, rigs = [whatsminer, whatsminer, whatsminer]) {
  const server = await vtn();
  const settings = {
    kind: "openadr",
    url: server.url,
    ...login,
    levels,
    interval: 5,
    maxAge: "2m",
    onStale: "hold",
    ...more,
  };
  const bench = await signalBench(settings, { rigs });
  /** An event from now on. */
  const event = (id: string, minutes: number, level: number, changes: object = {}) => ({
    id,
    objectType: "EVENT",
    programID: "p1",
    eventName: `Event ${id}`,
    createdDateTime: new Date(bench.now()).toISOString(),
    modificationDateTime: new Date(bench.now()).toISOString(),
    intervalPeriod: { start: new Date(bench.now()).toISOString(), duration: `PT${minutes}M` },
    intervals: [{ id: 0, payloads: [{ type: "SIMPLE", values: [level] }] }],
    ...changes,
  });
  return { ...bench, server, event };
}

describe("a VEN", () => {
  test("curtails for an event until its end, and follows it by the clock", async () => {
    const { server, event, turn, curtailments, view } = await openAdrBench();
    expect(await view()).toMatchObject({ state: "run", value: null, problem: null });
    server.events = [event("e1", 10, 2)];
    await turn(5);
    const [begun] = await curtailments();
    expect(begun).toMatchObject({ reason: "Grid: Event e1", target: { share: 50 }, cause: "signal" });
    expect(begun?.until).not.toBeNull();
    await turn(300);
    expect(await curtailments()).toMatchObject([{ ended: null }]);
    server.fault = "error";
    await turn(300);
    expect((await curtailments())[0]?.ended).toBe(begun?.until);
  });

  test("shortens and cancels an event while it is still being reached", async () => {
    const { server, event, turn, curtailments, settles, mining, get } = await openAdrBench();
    const first = event("e1", 60, 3);
    server.events = [first];
    await turn(5);
    expect(await curtailments()).toMatchObject([{ state: "curtailing" }]);
    await turn(1);
    const duration = "PT30M";
    const modificationDateTime = new Date(Date.parse(first.modificationDateTime) + 5_000).toISOString();
    const shorter = { ...first, modificationDateTime, intervalPeriod: { ...first.intervalPeriod, duration } };
    server.events = [shorter];
    await turn(5);
    const until = new Date(Date.parse(first.intervalPeriod.start) + 30 * 60_000).toISOString();
    expect(await curtailments()).toMatchObject([{ until, ended: null }]);
    // A copy of the server that has not heard of the change yet.
    server.events = [first];
    await turn(5);
    expect(await curtailments()).toMatchObject([{ until, ended: null }]);
    server.events = [];
    await turn(5);
    const [cancelled] = await curtailments();
    expect(cancelled?.ended).not.toBeNull();
    await settles(async () => (await get(cancelled?.id ?? 0)).state === "ended", "the end");
    expect(await mining()).toEqual([true, true, true]);
  });

  test("follows a clock that is set forward and back by an hour", async () => {
    const { server, event, turn, curtailments, setClock } = await openAdrBench();
    server.events = [event("e1", 30, 3)];
    await turn(5);
    expect(await curtailments()).toMatchObject([{ ended: null }]);
    setClock(3_600);
    await turn(5);
    expect((await curtailments()).map(({ ended }) => ended === null)).toEqual([false]);
    setClock(-3_600);
    await turn(5);
    expect((await curtailments()).map(({ ended }) => ended === null)).toEqual([true, false]);
  });

  test("refuses and reports a number whose unit is not stated", async () => {
    const { server, event, turn, curtailments, view, bench } = await openAdrBench();
    const payloads = [{ type: "DISPATCH_SETPOINT", values: [3] }];
    const setpoint = event("e1", 10, 0, { intervals: [{ id: 0, payloads }] });
    server.events = [setpoint];
    await turn(5);
    expect(await curtailments()).toEqual([]);
    const sentence = "the event Event e1 does not state the unit of DISPATCH_SETPOINT";
    expect((await view())?.problem).toContain(sentence);
    expect(await bench.notifications()).toContainEqual(expect.stringContaining(sentence));
    const payloadDescriptors = [
      { objectType: "EVENT_PAYLOAD_DESCRIPTOR", payloadType: "DISPATCH_SETPOINT", units: "KW" },
    ];
    server.programs = [{ id: "p1", programName: "Load response", payloadDescriptors }];
    await turn(5);
    expect(await curtailments()).toMatchObject([{ target: { limit: 3_000 } }]);
    expect((await view())?.problem).toBeNull();
    expect(bench.store.notifications.open("signal:grid:refused")).toBeUndefined();
  });

  test("curtails at once in an emergency, as the plan says", async () => {
    const { server, event, turn, curtailments } = await openAdrBench();
    const payloads = [{ type: "ALERT_GRID_EMERGENCY", values: ["frequency"] }];
    server.events = [event("a", 10, 1), event("b", 10, 0, { intervals: [{ id: 0, payloads }] })];
    await turn(5);
    expect(await curtailments()).toMatchObject([{ target: { all: true }, reason: "Grid: Event b: frequency" }]);
  });

  test("reads the events of its program alone", async () => {
    const { server, event, turn, curtailments, view } = await openAdrBench({ program: "Load response" });
    server.events = [event("other", 10, 3, { programID: "p2" })];
    await turn(5);
    expect([await curtailments(), (await view())?.problem]).toEqual([[], null]);
    expect(server.requests.filter((path) => path.includes("programID=p1"))).not.toEqual([]);
    server.programs = [];
    await turn(5);
    expect((await view())?.problem).toMatch(/shows no program Load response/);
  });

  test("asks for a token again when it was revoked, and shows its secret to nobody", async () => {
    const { server, turn, view, bench } = await openAdrBench();
    server.revoke();
    await turn(5);
    expect([server.tokens.length, (await view())?.problem]).toEqual([2, null]);
    expect(server.requests.join()).not.toMatch(/secret|token-/);
    server.fault = "error";
    await turn(5);
    const shown = JSON.stringify([
      await view(),
      await bench.notifications(),
      await bench.service.listSettings({}, { actor: "t" }),
    ]);
    expect(shown).not.toMatch(/the secret of the VEN|token-\d/);
  });

  test.each<[VtnFault, RegExp]>([
    ["error", /answers 500$/],
    ["huge", /answers with more than \d+ KB$/],
    ["elsewhere", /answers 302; redirects are not followed$/],
    ["page", /answers with something other than JSON$/],
  ])("of a server with the fault %s keeps what it knows until it is stale", async (fault, sentence) => {
    const { server, event, turn, curtailments, view } = await openAdrBench({ onStale: "run" });
    const elsewhere = await vtn();
    server.elsewhere = `${elsewhere.url}/events`;
    server.events = [event("e1", 60, 3)];
    await turn(5);
    server.fault = fault;
    await turn(60);
    expect(await view()).toMatchObject({ state: "curtail", problem: expect.stringMatching(sentence) });
    await turn(65);
    expect(await view()).toMatchObject({ state: "stale" });
    expect((await curtailments())[0]?.ended).not.toBeNull();
    expect(elsewhere.requests).toEqual([]);
    server.fault = null;
    await turn(5);
    expect(await view()).toMatchObject({ state: "curtail", problem: null });
  });

  test.each([null, "unpaged"] as const)("keeps the newest of 10,000 events (fault: %s)", async (fault) => {
    const { server, event, turn, curtailments, now, view } = await openAdrBench({}, [whatsminer]);
    const old = new Date(now() - 1_000_000).toISOString();
    server.fault = fault;
    server.events = Array.from({ length: 9_998 }, (_, index) =>
      event(`e${index}`, 60, 1, { modificationDateTime: old }),
    );
    server.events.push(event("last", 60, 3));
    await turn(5);
    expect(await curtailments()).toMatchObject([{ reason: "Grid: Event last" }]);
    expect((await view())?.problem).toBeNull();
  });

  test("keeps an event that is passed over while another is deleted between two pages", async () => {
    const { server, event, turn, curtailments } = await openAdrBench({}, [whatsminer]);
    const later = { intervalPeriod: { start: "2100-01-01T00:00:00Z", duration: "PT1H" } };
    server.events = Array.from({ length: 50 }, (_, index) => event(`e${index}`, 60, 1, { priority: 1, ...later }));
    server.events.push(event("last", 60, 3));
    await turn(5);
    server.before = (request) => {
      if (!request.includes("skip=50")) return;
      server.events = server.events.slice(1);
      server.before = () => {};
    };
    await turn(5);
    expect(await curtailments()).toMatchObject([{ reason: "Grid: Event last", ended: null }]);
    server.events = server.events.slice(0, -1);
    await turn(5);
    expect((await curtailments()).map(({ ended }) => ended === null)).toEqual([false]);
  });

  test("does not wait for ever for a slow answer", async () => {
    const server = await vtn();
    server.fault = "slow";
    const settings = {
      key: "g",
      plan: "p",
      kind: "openadr",
      url: server.url,
      ...login,
      interval: 5,
      maxAge: 60,
    } as const;
    const client = new OpenAdrClient({ ...settings, onStale: "hold" }, () => 0);
    const read = async (): Promise<void> => {
      for await (const _ of client.events(null, AbortSignal.timeout(200))) throw new Error("it has answered");
    };
    expect((await problem(read())).code).toBe("service.unreachable");
  });
});
