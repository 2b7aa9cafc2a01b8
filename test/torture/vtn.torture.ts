import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { Curtailment } from "../../src/contract/curtailment.ts";
import { MinerDetail } from "../../src/contract/resources.ts";
import { SignalView } from "../../src/contract/signals.ts";
import { startFarm } from "../../src/simulator/index.ts";
import { until } from "../until.ts";
import { Verdict } from "./measure.ts";
import { startProcess } from "./process.ts";
import { say } from "./say.ts";
import { differencesOf } from "./vtn/alike.ts";
import { builtVtn, idOf, reasonAgainst, startOpenLeadr } from "./vtn/openleadr.ts";
import { startTokenServer } from "./vtn/token-server.ts";

/**
 * Events of an OpenADR 3.1 server by others, openleadr-vtn from crates.io, curtail virtual rigs: the service polls it over a
 * real socket, as the client of a VEN. The simulator's own VTN must give the same answers.
 */
const reason = reasonAgainst();
const program = reason === null ? await builtVtn() : null;
if (program === null) {
  say(`skipped: ${reason ?? "openleadr-vtn cannot be built"}`);
  process.exit(0);
}

const verdict = new Verdict();
const vtn = await startOpenLeadr(program);
const tokens = await startTokenServer(vtn);
const farm = await startFarm({
  rigs: Array.from({ length: 4 }, (_, index) => ({
    kind: "whatsminer" as const,
    password: "admin",
    warm: true,
    restartSeconds: 0,
    host: `127.111.1.${index + 1}`,
  })),
});
const signal = {
  kind: "openadr",
  url: vtn.url,
  ...vtn.ven,
  levels: { moderate: 75, high: 50, emergency: 0 },
  interval: 5,
  maxAge: "3m",
  onStale: "hold",
};
const service = await startProcess({
  config: {
    http: { key: "the-key-of-the-service" },
    poll: { interval: 2 },
    power: { minOn: 0, minOff: 0 },
    miners: farm.rigs.map(({ address }, index) => ({ address, name: `rig ${index + 1}`, password: "admin" })),
    signals: [
      { ...signal, key: "utility", plan: "site" },
      { ...signal, key: "issued", plan: "site", program: "Tokens", tokenUrl: tokens.url },
      { ...signal, key: "stranger", plan: "site", clientSecret: "not the secret" },
    ],
  },
});

const ids = farm.rigs.map((_, index) => 1_000_000_001 + index);
const asked = async <T extends z.ZodType>(path: string, shape: T): Promise<z.output<T>> =>
  shape.parse(JSON.parse((await service.ask("GET", path)).text));
const view = async (key = "utility"): Promise<SignalView> => {
  const found = (await asked("/api/signals", z.array(SignalView))).find((each) => each.key === key);
  if (found === undefined) throw new Error(`there is no signal ${key}`);
  return found;
};
/** Newest first. */
const curtailments = async (): Promise<Curtailment[]> => asked("/api/curtailments", z.array(Curtailment));
/** W of all rigs, as read. */
const power = async (): Promise<number> => {
  const rigs = await Promise.all(ids.map((id) => asked(`/api/miners/${id}`, MinerDetail)));
  return rigs.reduce((sum, { readings }) => sum + (readings.power ?? 0), 0);
};
const seen = async (what: string, condition: () => Promise<boolean>): Promise<void> => {
  const isSeen = await until(condition, what, { timeoutMs: 120_000 }).then(
    () => true,
    () => false,
  );
  if (!isSeen) say(JSON.stringify([await view(), (await curtailments())[0] ?? null]));
  verdict.check(what, isSeen);
};
/** Waits for a poll that has begun after now. */
const polled = async (): Promise<void> => {
  for (let polls = 0; polls < 2; polls += 1) {
    const { at } = await view();
    await until(async () => (await view()).at !== at, "the VTN to be polled", { timeoutMs: 120_000 });
  }
};

let programId = "";
const eventOf = (name: string, type: string, values: readonly unknown[], more: object = {}) => ({
  objectType: "EVENT",
  programID: programId,
  eventName: name,
  intervalPeriod: { start: new Date().toISOString(), duration: "PT10M" },
  intervals: [{ id: 0, payloads: [{ type, values }] }],
  ...more,
});
const add = async (event: object): Promise<string> => idOf(await vtn.ask("POST", "/events", event));
const remove = (id: string) => vtn.ask("DELETE", `/events/${id}`);
const change = (id: string, event: object) => vtn.ask("PUT", `/events/${id}`, event);
const descriptor = (payloadType: string, units: string, of = "EVENT") => ({
  objectType: `${of}_PAYLOAD_DESCRIPTOR`,
  payloadType,
  units,
});
const isNamed = (each: Curtailment | undefined, name: string): boolean =>
  each !== undefined && each.ended === null && each.reason.endsWith(`: ${name}`);
/** The newest curtailment is that of an event, with a target. */
const isHeld = async (name: string, target: Curtailment["target"]): Promise<boolean> => {
  const [newest] = await curtailments();
  return newest !== undefined && isNamed(newest, name) && isDeepStrictEqual(newest.target, target);
};
const isOver = async (): Promise<boolean> => (await curtailments()).every(({ ended }) => ended !== null);

try {
  say("-- logging in");
  for (const id of ids)
    await until(
      async () => (await asked(`/api/miners/${id}`, MinerDetail)).readings.power !== null,
      `rig ${id} to be read`,
    );
  const full = await power();
  const isFull = async (): Promise<boolean> => (await isOver()) && (await power()) > 0.97 * full;
  const plan = { key: "site", target: { all: true } };
  await service.ask("POST", "/api/curtailmentplans", {
    headers: { "content-type": "application/json" },
    body: JSON.stringify(plan),
  });
  const payloadDescriptors = [
    descriptor("DISPATCH_SETPOINT", "KW"),
    // Its reports have the same type in another unit, which is not that of the events.
    { ...descriptor("DISPATCH_SETPOINT", "KWH", "REPORT"), readingType: "DIRECT_READ" },
  ];
  programId = idOf(
    await vtn.ask("POST", "/programs", { objectType: "PROGRAM", programName: "Load response", payloadDescriptors }),
  );
  await vtn.ask("POST", "/programs", { objectType: "PROGRAM", programName: "Tokens" });
  await seen("client credentials: it is read without a problem", async () => {
    const { state, problem } = await view();
    return state === "run" && problem === null;
  });
  await seen("a wrong secret: the problem says 401", async () =>
    ((await view("stranger")).problem ?? "").endsWith("answers 401"),
  );
  await seen("a token that has expired is asked for again", async () => {
    const { state, problem } = await view("issued");
    return tokens.issued() >= 2 && state === "run" && problem === null;
  });

  say("-- what events mean");
  const price = await add(eventOf("Price", "PRICE", [0.3]));
  await polled();
  verdict.check("a price curtails nothing", (await isFull()) && (await view()).problem === null);
  await remove(price);

  const simple = await add(eventOf("Level 2", "SIMPLE", [2]));
  await seen(
    "SIMPLE 2: half of the power is asked for, and given",
    async () => (await isHeld("Level 2", { share: 50 })) && (await power()) <= 0.51 * full,
  );
  await remove(simple);
  await seen("it is deleted: the rigs have their power back", isFull);

  const kilowatts = Math.round(full / 2_000);
  const setpoint = eventOf("Setpoint", "DISPATCH_SETPOINT", [kilowatts]);
  const setpointId = await add(setpoint);
  await seen(
    "DISPATCH_SETPOINT: kW, by the program's descriptor of events",
    async () => (await isHeld("Setpoint", { limit: kilowatts * 1000 })) && (await power()) <= kilowatts * 1000,
  );
  const [{ id: curtailment } = { id: 0 }] = await curtailments();
  const changed = { ...setpoint, intervals: [{ id: 0, payloads: [{ type: "DISPATCH_SETPOINT", values: [0] }] }] };
  await change(setpointId, changed);
  await seen(
    "it is modified: the same curtailment has the new target",
    async () =>
      (await isHeld("Setpoint", { all: true })) &&
      (await curtailments())[0]?.id === curtailment &&
      (await power()) < 0.1 * full,
  );
  const start = Date.parse(setpoint.intervalPeriod.start);
  const passed = Math.ceil((Date.now() - start) / 1000) + 40;
  await change(setpointId, { ...changed, intervalPeriod: { ...setpoint.intervalPeriod, duration: `PT${passed}S` } });
  const end = new Date(start + passed * 1000).toISOString();
  await seen("it is shortened: the end is the new one", async () => (await curtailments())[0]?.until === end);
  await vtn.stop();
  await seen("the VTN is away: the problem says so, and the event ends by the clock", async () => {
    const [newest] = await curtailments();
    const late = Date.parse(newest?.ended ?? "") - Date.parse(end);
    const { problem } = await view();
    return late >= 0 && late < 5_000 && (problem ?? "").endsWith("cannot be reached") && (await isFull());
  });
  await vtn.start();
  await remove(setpointId);
  await seen(
    "it is there again, and knows no token of before: it is read",
    async () => (await view()).problem === null,
  );

  const limit = eventOf("Import", "IMPORT_CAPACITY_LIMIT", [kilowatts]);
  const limitId = await add(limit);
  await seen("IMPORT_CAPACITY_LIMIT without a unit: it is refused, and said", async () =>
    ((await view()).problem ?? "").endsWith("the event Import does not state the unit of IMPORT_CAPACITY_LIMIT"),
  );
  await change(limitId, { ...limit, payloadDescriptors: [descriptor("IMPORT_CAPACITY_LIMIT", "KW")] });
  await seen("with the unit of its own descriptor: kW", async () => isHeld("Import", { limit: kilowatts * 1000 }));
  const emergency = await add(eventOf("Storm", "ALERT_GRID_EMERGENCY", ["frequency"], { priority: 9 }));
  await seen("ALERT_GRID_EMERGENCY goes first: all stop", async () => {
    const [newest] = await curtailments();
    return isDeepStrictEqual(newest?.target, { all: true }) && (await power()) < 0.1 * full;
  });
  await remove(emergency);
  await remove(limitId);
  await seen("both are deleted: the rigs have their power back", isFull);

  say("-- times");
  const fraction = eventOf("Fraction", "SIMPLE", [1]);
  const fractionId = await add({ ...fraction, intervalPeriod: { ...fraction.intervalPeriod, duration: "PT0.5H" } });
  const half = new Date(Date.parse(fraction.intervalPeriod.start) + 1_800_000).toISOString();
  await seen("PT0.5H is half an hour", async () => (await curtailments())[0]?.until === half);
  await remove(fractionId);
  await seen("it is deleted: the rigs have their power back", isFull);
  const now = await add(
    eventOf("Now", "SIMPLE", [1], { intervalPeriod: { start: "0001-01-01T00:00:00Z", duration: "P9999Y" } }),
  );
  await seen("a start of now, and no end", async () => {
    const [newest] = await curtailments();
    return isNamed(newest, "Now") && newest?.until === null;
  });
  await remove(now);
  await seen("it is deleted: the rigs have their power back", isFull);
  const steps = [1, 3].map((level, id) => ({ id, payloads: [{ type: "SIMPLE", values: [level] }] }));
  const range = 20;
  const random = eventOf("Steps", "SIMPLE", [], {
    intervalPeriod: { start: new Date().toISOString(), duration: "PT20S", randomizeStart: `PT${range}S` },
    intervals: steps,
  });
  const drawn = Date.parse(random.intervalPeriod.start);
  const randomId = await add(random);
  await seen("randomizeStart: the first interval begins within its range", async () => {
    const [newest] = await curtailments();
    const late = newest === undefined ? -1 : Date.parse(newest.started) - drawn;
    return (await isHeld("Steps", { share: 25 })) && late >= 0 && late < (range + 6) * 1000;
  });
  await seen("the second interval follows", async () => isHeld("Steps", { all: true }));
  await seen("and ends", isFull);
  await remove(randomId);

  say("-- targets and pages");
  const others = await add(eventOf("Others", "SIMPLE", [3], { targets: ["nevada"] }));
  await polled();
  verdict.check("an event for other targets is not seen", (await isOver()) && (await view()).problem === null);
  await remove(others);
  const last = await add(eventOf("Last", "SIMPLE", [3], { targets: ["nevada", "texas"] }));
  const first = await Promise.all(
    Array.from({ length: 120 }, (_, count) => add(eventOf(`Price ${count}`, "PRICE", [count / 1000], { priority: 5 }))),
  );
  await seen("an event for its target, on the third page", async () => isHeld("Last", { all: true }));
  const [{ id: begun } = { id: 0 }] = await curtailments();
  for (const id of first) await remove(id);
  await polled();
  verdict.check(
    "its curtailment goes on while those before it are deleted",
    (await isHeld("Last", { all: true })) && (await curtailments())[0]?.id === begun,
  );
  await remove(last);
  await seen("it is deleted: the rigs have their power back", isFull);

  say("-- the VTN of the simulator");
  const differences = await differencesOf(vtn, programId);
  for (const line of differences) say(line);
  verdict.check("it gives the same answers", differences.length === 0);
} finally {
  await service.close();
  await farm.close();
  await tokens.close();
  await vtn.close();
}
verdict.end();
