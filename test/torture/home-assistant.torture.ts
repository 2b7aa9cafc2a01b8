import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { z } from "zod";
import type { Farm } from "../../src/simulator/index.ts";
import { type Running, running } from "../cli/command.ts";
import { freePort } from "../free-port.ts";
import { checkDevices } from "../mqtt/home-assistant-checker.ts";
import { type Mosquitto, type Received, type Subscriber, startMosquitto, subscribeAt } from "../mqtt/mosquitto.ts";
import { until, within } from "../until.ts";
import {
  type AnnouncedEntity,
  devicesAt,
  entitiesOf,
  isDiscovery,
  publishedValue,
} from "./home-assistant/announced.ts";
import { commandEntities } from "./home-assistant/commands.ts";
import { checkExamples, dashboardEntities } from "./home-assistant/examples.ts";
import { compareFacts } from "./home-assistant/facts.ts";
import { type Installed, installed, reasonAgainst } from "./home-assistant/installed.ts";
import { type HomeAssistant, type LogEntry, startHomeAssistant } from "./home-assistant/instance.ts";
import { type Away, falseChanges } from "./home-assistant/restarts.ts";
import { exampleConfiguration, startExampleFarm, startManyRigs } from "./home-assistant/rigs.ts";
import { withoutBroker } from "./home-assistant/without-broker.ts";
import { wait } from "./measure.ts";
import { say } from "./say.ts";

/**
 * A real Home Assistant, which it installs, on a real Mosquitto beside the built Rigbridge with virtual rigs of every
 * family: Home Assistant takes all that is announced, a restart of Rigbridge tells of nothing that did not happen, minutes
 * without a change are silent, the examples fit, commands arrive, 200 rigs appear quickly, and the example without a broker
 * works. A number is how many
 * minutes are to be silent, by default ten.
 */
const steadyMinutes = Number(process.argv[2] ?? 10);
const manyRigs = 200;
/** All that is not silent takes less. */
const otherMinutes = 40;
const bounds = { announcedMs: 90_000, manyMs: 40_000 };

/** What Home Assistant logs here for reasons of its own, by logger. */
const foreign: readonly { readonly logger: RegExp; readonly why: string }[] = [
  { logger: /^homeassistant\.bootstrap$/, why: "it is told to install no packages, as they are there" },
  { logger: /^homeassistant\.components\.(network|analytics|marketplace)$/, why: "there is no network but loopback" },
  { logger: /^(haffmpeg\.|homeassistant\.components\.camera\.)/, why: "no programs for cameras are installed" },
];

/** `npm run torture` builds first and says so here; else it is the sources. */
const main = new URL(
  process.env.RIGBRIDGE_BUILT === "true" ? "../../dist/cli/main.js" : "../../src/cli/main.ts",
  import.meta.url,
).pathname;
const ready = /is ready at (http:\/\/127\.0\.0\.1:\d+)/;

interface Point {
  readonly point: string;
  readonly measured: string;
  readonly isKept: boolean;
}
const points: Point[] = [];
/** The point is kept if nothing is wrong; the first wrongs are shown. */
function note(point: string, measured: string, wrongs: readonly string[]): void {
  const isKept = wrongs.length === 0;
  points.push({ point, measured: isKept ? measured : `${measured}; wrong: ${wrongs.length}`, isKept });
  say(`${isKept ? "PASSED" : "FAILED"}  ${point}: ${measured}`);
  for (const wrong of wrongs.slice(0, 12)) say(`          ${wrong.slice(0, 300)}`);
  if (wrongs.length > 12) say(`          and ${wrongs.length - 12} more`);
}

/** Rigbridge as a process over a configuration file; started again it has the same store. */
class Bridge {
  readonly #folder: string;
  readonly #port: number;
  #process: Running | null = null;

  constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#port = port;
  }

  async configure(config: object): Promise<void> {
    await writeFile(join(this.#folder, "rigbridge.yaml"), stringify(config), { mode: 0o600 });
  }

  async start(): Promise<void> {
    const args = ["serve", "--config", "rigbridge.yaml", "--port", String(this.#port)];
    const env = { MQTT_PASSWORD: "unused" };
    this.#process = await running(args, ready, { cwd: this.#folder, env, program: main });
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const ending = this.#process;
    this.#process = null;
    ending?.signal(signal);
    if (ending !== null) await within(ending.ended, "Rigbridge to end");
  }
}

/** Everything of one run: the broker, Home Assistant on it, a client that hears all, and a folder for Rigbridge. */
interface Scene {
  readonly broker: Mosquitto;
  readonly client: Subscriber;
  /** Epoch ms of each message in `client.received`. */
  readonly times: readonly number[];
  readonly home: HomeAssistant;
  readonly bridge: Bridge;
}

async function withScene(here: Installed, play: (scene: Scene) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "rigbridge-home-assistant-"));
  const bridge = new Bridge(folder, await freePort());
  const broker = await startMosquitto({ config: ["set_tcp_nodelay true", "max_queued_messages 0"] });
  const client = await subscribeAt(broker.url);
  const times: number[] = [];
  client.client.on("message", () => times.push(Date.now()));
  let home: HomeAssistant | null = null;
  try {
    home = await startHomeAssistant(here, { mqttPort: broker.port });
    await play({ broker, client, times, home, bridge });
  } finally {
    await bridge.end("SIGKILL");
    await home?.close();
    await client.close();
    await broker.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

const ours = (log: readonly LogEntry[]): LogEntry[] =>
  log.filter((entry) => !foreign.some(({ logger }) => logger.test(entry.logger)));
const texts = (log: readonly LogEntry[]): string[] =>
  ours(log).map(({ level, logger, text }) => `${level} [${logger}] ${text.replaceAll("\n", " | ")}`);

/** (a) */
async function discovery({ home, client, broker, bridge }: Scene, farm: Farm): Promise<AnnouncedEntity[]> {
  await bridge.configure(exampleConfiguration(farm, broker.url));
  await bridge.start();
  const start = Date.now();
  let entities: AnnouncedEntity[] = [];
  let problems = ["nothing is announced"];
  const isThere = async (): Promise<boolean> => {
    const before = entities.length;
    entities = entitiesOf(devicesAt(client));
    problems = await missing(home, client, entities);
    return entities.length > 0 && entities.length === before && problems.length === 0;
  };
  await until(isThere, "all entities", { timeoutMs: bounds.announcedMs }).catch(() => undefined);
  const devices = devicesAt(client);
  note(
    "discovery: every entity exists and has its state",
    `${entities.length} entities of ${devices.size} devices after ${seconds(Date.now() - start)}`,
    problems,
  );
  const registry = await home.registry();
  const ids = entities.flatMap(({ uniqueId, entityId }) => {
    const actual = registry.get(uniqueId)?.entity_id;
    if (entityId === null) return [`${actual ?? uniqueId} has no announced id`];
    return actual === entityId ? [] : [`${entityId} is ${actual}`];
  });
  note("discovery: every entity has the announced id", `${entities.length - ids.length} of ${entities.length}`, ids);
  note("discovery: no warning, no error in the log", `${ours(home.log).length} entries`, texts(home.log));
  note("discovery: the checker of npm test agrees", `${devices.size} devices`, checkDevices(devices));
  return entities;
}

/** Entities that Home Assistant does not have, or that show nothing although a value is published. */
async function missing(home: HomeAssistant, client: Subscriber, entities: readonly AnnouncedEntity[]) {
  const [registry, states] = [await home.registry(), await home.states()];
  return entities.flatMap((entity) => {
    const { uniqueId, platform, isEnabled } = entity;
    const id = registry.get(uniqueId)?.entity_id;
    if (id === undefined) return [`${uniqueId} does not exist`];
    if (!isEnabled) return [];
    const state = states.get(id)?.state;
    if (state === undefined) return [`${id} has no state`];
    if (state === "unavailable") return isAway(entity, client) ? [] : [`${id} is unavailable`];
    const value = publishedValue(entity, client);
    const isShown = !["button", "event", "climate"].includes(platform) && value !== null && value !== undefined;
    return isShown && state === "unknown" ? [`${id} is unknown, although ${JSON.stringify(value)} is published`] : [];
  });
}

/** Whether one of its availability topics says that it is away. */
const isAway = ({ component: { own }, device }: AnnouncedEntity, client: Subscriber): boolean => {
  const root: { availability?: { topic: string }[] } = JSON.parse(client.last(device) ?? "{}");
  const entries = Array.isArray(own.availability) ? own.availability : (root.availability ?? []);
  return entries.some(({ topic }: { topic: string }) => client.last(topic) === "offline");
};

/** (b) */
async function restart(
  scene: Scene,
  name: string,
  signal: "SIGTERM" | "SIGKILL",
  { meanwhile = async () => undefined, lagMs = 3_000 }: { meanwhile?: () => Promise<void>; lagMs?: number } = {},
): Promise<void> {
  const { home, client, times, bridge } = scene;
  const uniqueIds = new Map([...(await home.registry()).values()].map((each) => [each.entity_id, each.unique_id]));
  // What Rigbridge says of itself may change.
  const own = entitiesOf(devicesAt(client)).filter(({ component }) =>
    /\/bridge\//.test(String(component.whole.state_topic)),
  );
  const itself = new Set(own.map(({ uniqueId }) => uniqueId));
  for (const [entity, uniqueId] of uniqueIds) if (itself.has(uniqueId)) uniqueIds.delete(entity);
  const before = await home.states();
  const [from, heard] = [home.changes.length, client.received.length];
  const loggedBefore = home.log.length;
  await bridge.end(signal);
  await meanwhile();
  await wait(3_000);
  await bridge.start();
  await wait(60_000);
  const messages = client.received.slice(heard).map((each, at) => ({ ...each, at: times[heard + at] ?? 0 }));
  const bridgeSays = (payload: string) =>
    messages.find((each) => /\/bridge\/state$/.test(each.topic) && each.payload === payload)?.at ?? Date.now();
  const away: Away = { from: bridgeSays("offline"), until: bridgeSays("online"), lagMs };
  const events = messages.filter(({ topic, retained }) => /\/(event|notification)$/.test(topic) && !retained);
  const found = foundMeanwhile(events, client.received.slice(0, heard));
  const isFound = (at: number) => found.some((event) => Math.abs(event.at - at) < 2_000);
  const changes = home.changes.slice(from).filter(({ entity, at }) => !(entity.startsWith("event.") && isFound(at)));
  const wrongs = falseChanges(before, changes, away, uniqueIds);
  const late = [...(await home.states())].flatMap(([entity, { state }]) =>
    uniqueIds.has(entity) && state === "unavailable" && before.get(entity)?.state !== state
      ? [`${entity} is unavailable a minute after the start`]
      : [],
  );
  note(`${name}: no state that was not so`, `${changes.length} changes, away for ${seconds(away.until - away.from)}`, [
    ...wrongs,
    ...late,
  ]);
  const untrue = events.filter((event) => !found.includes(event));
  note(
    `${name}: no event, no notification`,
    `${untrue.length} messages`,
    untrue.map(({ topic, payload }) => `${topic} ${payload}`),
  );
  const logged = home.log.slice(loggedBefore);
  note(`${name}: no warning, no error in the log`, `${ours(logged).length} entries`, texts(logged));
  const again = messages.filter(({ topic }) => isDiscovery(topic));
  say(`          ${again.length} discovery messages`);
}

const RecordEvent = z.union([
  z
    .object({ event_type: z.literal("best_share"), best_share: z.number(), before: z.number() })
    .transform((each) => ({ ...each, value: each.best_share })),
  z
    .object({ event_type: z.literal("block_found"), found_blocks: z.number(), before: z.number() })
    .transform((each) => ({ ...each, value: each.found_blocks })),
]);
const RecordNotice = z.object({ title: z.enum(["New best share", "Block found"]), message: z.string() });

/**
 * Rigs find better shares meanwhile: an event tells of each, and so do notifications with its figures. It is new only if
 * it follows the last one of its rig.
 */
function foundMeanwhile<T extends Received>(messages: readonly T[], earlier: readonly Received[]): readonly T[] {
  const last = new Map<string, number>();
  const figures = new Set<string>();
  const isNext = ({ topic, payload }: Received): boolean => {
    const { data } = RecordEvent.safeParse(JSON.parse(payload));
    if (data === undefined) return false;
    const key = `${topic} ${data.event_type}`;
    const follows = data.value > data.before && data.before >= (last.get(key) ?? 0);
    last.set(key, data.value);
    if (follows) figures.add(`${data.value}${data.before}`);
    return follows;
  };
  for (const each of earlier.filter(({ topic }) => /\/event$/.test(topic))) isNext(each);
  figures.clear();
  const events = messages.filter(isNext);
  const isOfEvent = ({ payload }: Received): boolean => {
    const { data } = RecordNotice.safeParse(JSON.parse(payload));
    return data !== undefined && figures.has(data.message.replace(/\D/g, ""));
  };
  return [...events, ...messages.filter(isOfEvent)];
}

/** Where a message begins to differ from the last one before it at its topic. */
function changeOf(
  message: { topic: string; payload: string },
  all: readonly { topic: string; payload: string }[],
): string {
  const before = all.slice(0, all.indexOf(message)).findLast(({ topic }) => topic === message.topic)?.payload ?? "";
  const at = Array.from(message.payload).findIndex((letter, index) => letter !== before[index]);
  const around = (text: string): string => text.slice(Math.max(0, at - 60), at + 60);
  return before === message.payload ? "is the same again" : `was ${around(before)}, is ${around(message.payload)}`;
}

/** (c) */
async function steady({ home, client }: Scene): Promise<void> {
  const [heard, logged] = [client.received.length, home.log.length];
  say(`Waiting for ${steadyMinutes} minutes in which nothing changes`);
  await wait(steadyMinutes * 60_000);
  const messages = client.received.slice(heard).filter(({ topic }) => isDiscovery(topic));
  const entries = home.log.slice(logged);
  note(
    `${steadyMinutes} steady minutes: no discovery message`,
    `${messages.length} messages, ${Math.round(messages.reduce((sum, { payload }) => sum + payload.length, 0) / 1000)} kB`,
    messages.map((message) => `${message.topic} ${changeOf(message, client.received)}`),
  );
  note(
    `${steadyMinutes} steady minutes: no warning, no error in the log`,
    `${ours(entries).length} entries`,
    texts(entries),
  );
}

/** (e) */
async function examples(here: Installed, scene: Scene, entities: readonly AnnouncedEntity[]): Promise<void> {
  const { home } = scene;
  const states = await home.states();
  const used = dashboardEntities();
  const absent = used.filter(({ entity }) => !states.has(entity));
  note(
    "examples: every entity of the dashboards and cards exists",
    `${used.length - absent.length} of ${used.length}`,
    absent.map(({ file, entity }) => `${file}: ${entity}`),
  );
  for (const { point, measured, wrongs } of await checkExamples(here, home, states)) note(point, measured, wrongs);
  const results = await commandEntities(scene, entities);
  note(
    "commands: each reaches the rig, and the state follows",
    `${results.filter(({ wrong }) => wrong === null).length} of ${results.length}: ${results.map(({ name }) => name).join(", ")}`,
    results.flatMap(({ wrong }) => (wrong === null ? [] : [wrong])),
  );
}

/** (d) */
async function many({ home, client, broker, bridge }: Scene): Promise<void> {
  const farm = await startManyRigs(manyRigs, freePort);
  try {
    await bridge.configure(farm.configuration(broker.url));
    const start = Date.now();
    // The clock runs from the start of the process.
    await bridge.start();
    let state = { devices: 0, entities: 0, problems: [""] };
    let lastRig = 0;
    /** What was missing when the time was up. */
    let late: string[] = [];
    const look = async (): Promise<boolean> => {
      const entities = entitiesOf(devicesAt(client));
      const rigs = new Set(entities.filter(({ device }) => /_miner_/.test(device)).map(({ device }) => device));
      if (rigs.size > state.devices) lastRig = Date.now() - start;
      state = { devices: rigs.size, entities: entities.length, problems: await missing(home, client, entities) };
      if (Date.now() - start <= bounds.manyMs) late = state.problems;
      return rigs.size === manyRigs && state.problems.length === 0;
    };
    await until(look, "the rigs", { timeoutMs: bounds.manyMs * 3 }).catch(() => undefined);
    const took = Date.now() - start;
    note(
      `${manyRigs} rigs announced and with states within ${seconds(bounds.manyMs)}`,
      `${state.devices} rigs, the last announced after ${seconds(lastRig)}; ${state.entities} entities after ${seconds(took)}`,
      took > bounds.manyMs ? [...new Set([...late, ...state.problems, `it took ${seconds(took)}`])] : state.problems,
    );
    note(`${manyRigs} rigs: no warning, no error in the log`, `${ours(home.log).length} entries`, texts(home.log));
  } finally {
    await farm.close();
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

async function prove(here: Installed): Promise<void> {
  say(`Home Assistant ${here.version} in ${here.root}`);
  for (const { logger, why } of foreign) say(`Left out of its log: ${logger.source}, because ${why}`);
  const facts = await compareFacts(here);
  note("the facts in test/mqtt are those of this Home Assistant", facts.measured, facts.differences);
  await step("discovery", () => withScene(here, everyFamily(here)));
  await step(`${manyRigs} rigs`, () => withScene(here, many));
  await step("without a broker", () => withoutBroker(here, (folder, port) => new Bridge(folder, port), ours, note));
}

const everyFamily =
  (here: Installed) =>
  async (scene: Scene): Promise<void> => {
    const { farm, powerOffOne, close } = await startExampleFarm();
    try {
      const entities = await discovery(scene, farm);
      powerOffOne();
      await wait(60_000);
      await step("restart", () => restart(scene, "restart", "SIGTERM"));
      await step("restart after kill -9", () => restart(scene, "restart after kill -9", "SIGKILL"));
      // As an update does, it announces everything otherwise than before, which empties sensors until their state is said.
      const meanwhile = () => scene.bridge.configure(exampleConfiguration(farm, scene.broker.url, "all"));
      await step("update", () => restart(scene, "update", "SIGTERM", { meanwhile, lagMs: 10_000 }));
      await step("steady minutes", () => steady(scene));
      await step("examples and commands", () => examples(here, scene, entities));
    } finally {
      await close();
    }
  };

/** What cannot be finished is a broken point; the others are still looked at. */
async function step(point: string, run: () => Promise<void>): Promise<void> {
  await run().catch((error: unknown) => note(`${point}: finished`, "no", [String(error)]));
}

/**
 * Runs this program again in namespaces of its own: there is no network but loopback, so that Home Assistant looks at none,
 * and everything that it starts ends with it.
 */
async function onLoopback(): Promise<number> {
  const again = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const namespaces = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"];
  const args = ["--pdeathsig", "KILL", ...namespaces, "sh", "-c", loopback, ...again];
  const child = spawn("setpriv", args, { stdio: "inherit", env: { ...process.env, [alone]: "true" } });
  const end = () => child.kill("SIGKILL");
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, end);
  const limit = setTimeout(end, (steadyMinutes + otherMinutes) * 60_000);
  const [code] = await once(child, "exit");
  clearTimeout(limit);
  if (typeof code !== "number") say(`It was ended; it may take ${steadyMinutes + otherMinutes} minutes`);
  return typeof code === "number" ? code : 1;
}

/** Home Assistant's HTTP client listens to mDNS, for which there has to be a route. */
const loopback = 'ip link set lo up multicast on && ip route add 224.0.0.0/4 dev lo && exec "$0" "$@"';
const alone = "RIGBRIDGE_ALONE";
const against = reasonAgainst();
if (against !== null) say(`left out: ${against}`);
else if (process.env[alone] === undefined) {
  await installed();
  process.exitCode = await onLoopback();
} else {
  await prove(await installed());
  const width = Math.max(...points.map(({ point }) => point.length));
  say("");
  for (const { point, measured, isKept } of points)
    say(`${isKept ? "PASSED" : "FAILED"}  ${point.padEnd(width)}  ${measured.slice(0, 120)}`);
  process.exitCode = points.every(({ isKept }) => isKept) ? 0 : 1;
}
