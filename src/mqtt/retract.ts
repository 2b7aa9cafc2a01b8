import { homeAssistantSettings, type MqttSettings } from "../config/mqtt.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { objectIn } from "./command-inbox.ts";
import { originName } from "./home-assistant/component.ts";
import { isOwnId } from "./home-assistant/device.ts";
import {
  announcedIn,
  discoveryFilters,
  discoveryTopicIn,
  isMigrationMark,
} from "./home-assistant/retained-discovery.ts";
import { type MqttConnection, openConnection, placeOf } from "./mqtt-connection.ts";
import type { Message } from "./mqtt-link.ts";
import { readRetained } from "./read-retained.ts";
import { topicsOf } from "./topics.ts";

export interface RetractOptions {
  readonly settings: MqttSettings & { readonly url: string };
  /** Only lists what would be removed. */
  readonly dryRun: boolean;
  /** Removes only the discovery messages, also while a bridge with this base runs: it announces with another prefix. */
  readonly discoveryOnly?: boolean;
  /** Receives lines for the user. */
  readonly report: (line: string) => void;
}

/** After this long without another retained message, all are taken to have arrived. */
const quietMs = 1_500;
/** A running bridge answers within this time. */
const answerMs = 3_000;
/** Messages removed between two lines about the progress. */
const batch = 100;

/**
 * Clears the retained messages of a bridge: discovery first, then the topics below its base. Throws if a bridge with
 * this base is running, if the broker cannot be reached, or if it keeps some of the messages.
 */
export async function retract(options: RetractOptions): Promise<void> {
  const { settings, dryRun, discoveryOnly = false, report } = options;
  const place = placeOf(settings.url);
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => undefined);
  const fail = (...words: unknown[]): void =>
    failure.reject(new RigbridgeError("service.unreachable", String(words.at(-1))));
  const connection = await openConnection({
    // The client id of the bridge would disconnect a running one.
    settings: { ...settings, clientId: `${settings.clientId}-retract` },
    log: { info: () => undefined, warn: fail, error: fail },
  });
  const unlessFailed = <T>(work: Promise<T>): Promise<T> => Promise.race([work, failure.promise]);
  try {
    await unlessFailed(new Promise<void>((resolve) => connection.connected(resolve)));
    const retained = async (): Promise<Found> => {
      const all = await unlessFailed(retainedBy(settings, connection));
      return discoveryOnly ? { ...all, topics: [], isOnline: false } : all;
    };
    const found = await retained();
    const isRunning = found.isOnline && (await unlessFailed(answers(settings, connection)));
    if (isRunning && !dryRun) throw running(settings.base, place);
    const topics = [...found.discovery, ...found.topics];
    report(
      `${found.discovery.length} discovery messages and ${found.topics.length} topics of Rigbridge ` +
        `with the base ${settings.base} are retained at ${place}`,
    );
    if (dryRun) {
      for (const topic of topics) report(`  ${topic}`);
      report(`Nothing was removed (--dry-run)${isRunning ? "; stop Rigbridge before you remove them" : ""}`);
      return;
    }
    for (let at = 0; at < topics.length; at += batch) {
      for (const topic of topics.slice(at, at + batch))
        connection.publish({ topic, payload: "", qos: 1, retain: true });
      await unlessFailed(connection.settled());
      report(`Removed ${Math.min(at + batch, topics.length)} of ${topics.length}`);
    }
    if (topics.length === 0) return;
    const left = await retained();
    const kept = [...left.discovery, ...left.topics];
    if (kept.length > 0) throw keeps(kept, place);
  } finally {
    await connection.close();
  }
}

/** The retained messages of a bridge with these settings, in order of removal. */
interface Found {
  readonly discovery: readonly string[];
  readonly topics: readonly string[];
  /** Whether its state is "online"; a restarted broker may keep this state of an ended bridge. */
  readonly isOnline: boolean;
}

async function retainedBy(settings: MqttSettings, connection: MqttConnection): Promise<Found> {
  const { base } = settings;
  const { prefix } = homeAssistantSettings(settings);
  const own = topicsOf(base);
  const [miner, group, facility] = [own.miner("+"), own.group("+"), own.facility("+")];
  const filters = [
    ...discoveryFilters(prefix),
    miner.state,
    miner.availability,
    group.state,
    facility.state,
    facility.availability,
    own.place("+"),
    own.curtailment.state,
    own.summary,
    own.notifications,
    own.state,
    own.info,
  ];
  const discovery: string[] = [];
  const topics = new Map<string, string>();
  const done = Promise.withResolvers<void>();
  const receive = (message: Message): void => {
    const { topic, payload } = message;
    const at = discoveryTopicIn(prefix, topic);
    if (at === null) topics.set(topic, payload.toString());
    else if (announcedIn(message, at, own.state) !== null || (isMigrationMark(message) && isOwnId(base, at.device)))
      discovery.push(topic);
  };
  readRetained({ connection, filters, quietMs, receive, done: done.resolve });
  await done.promise;
  const info = topics.get(own.info);
  // Other programs have topics like these, too.
  const isOurs = discovery.length > 0 || (info !== undefined && isFromBridge(info));
  // The topic that identifies the bridge comes last, so that an interrupted removal can be repeated.
  const order = (topic: string): number => [own.state, own.info].indexOf(topic);
  return {
    discovery,
    topics: isOurs ? [...topics.keys()].sort((a, b) => order(a) - order(b)) : [],
    isOnline: isOurs && topics.get(own.state) === "online",
  };
}

function isFromBridge(info: string): boolean {
  try {
    return objectIn(info).name === originName;
  } catch {
    return false;
  }
}

/** Whether a bridge answers a command that is for no miner. */
async function answers({ base }: MqttSettings, connection: MqttConnection): Promise<boolean> {
  const { action, response } = topicsOf(base).miner("retract");
  const answered = Promise.withResolvers<boolean>();
  const receive = (): void => answered.resolve(true);
  connection.subscribe([response], receive);
  connection.publish({ topic: action, payload: "probe", qos: 1, retain: false });
  const timer = setTimeout(() => answered.resolve(false), answerMs);
  const isAnswered = await answered.promise;
  clearTimeout(timer);
  connection.unsubscribe([response], receive);
  return isAnswered;
}

const running = (base: string, place: string): RigbridgeError =>
  new RigbridgeError(
    "in.use",
    `Rigbridge is running with the base ${base} at ${place} and would publish everything again; stop it, then repeat`,
  );

const keeps = (topics: readonly string[], place: string): RigbridgeError =>
  new RigbridgeError(
    "service.refused",
    `The broker at ${place} still retains ${topics.length} messages; check the rights of its user, and that Rigbridge ` +
      `is stopped, then repeat. The first: ${topics[0]}`,
  );
