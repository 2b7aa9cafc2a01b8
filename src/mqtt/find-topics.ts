import { homeAssistantSettings, type MqttSettings } from "../config/mqtt.ts";
import type { TopicList } from "../contract/settings.ts";
import { isBelow } from "../contract/topic.ts";
import { besideBridge } from "./trial.ts";

/** Retained messages come at once; this long is waited for devices that publish every few seconds. */
const listenMs = 3_000;
const limits = { topics: 200, numbers: 20, bytes: 10_000, levels: 3 };

/**
 * Topics whose messages contain a number, by name: those with a retained message, and those that a device publishes to
 * within 3 seconds. Rigbridge's own and those for Home Assistant's discovery are left out. Rejects with
 * `service.unreachable` if the broker does not answer.
 */
export async function findTopics(settings: MqttSettings, signal: AbortSignal): Promise<TopicList["topics"]> {
  const { url, base } = settings;
  if (url === undefined) return [];
  const { prefix } = homeAssistantSettings(settings);
  const found = new Map<string, TopicList["topics"][number]["numbers"]>();
  await besideBridge({ ...settings, url }, "topics", signal, async (connection) => {
    const done = Promise.withResolvers<void>();
    connection.subscribe(
      ["#"],
      ({ topic, payload }) => {
        if (isBelow(topic, base) || isBelow(topic, prefix) || payload.length > limits.bytes) return;
        if (!found.has(topic) && found.size === limits.topics) return;
        const numbers = numbersIn(payload.toString());
        if (numbers.length > 0) found.set(topic, numbers);
      },
      { qos: 0, answered: () => setTimeout(done.resolve, listenMs) },
    );
    await done.promise;
  });
  return [...found].sort(([one], [other]) => (one < other ? -1 : 1)).map(([topic, numbers]) => ({ topic, numbers }));
}

/** The numbers of a payload, with their paths in its JSON; path null: the payload is the number. */
export function numbersIn(payload: string): TopicList["topics"][number]["numbers"] {
  const found: TopicList["topics"][number]["numbers"] = [];
  const walk = (value: unknown, path: readonly string[]): void => {
    if (found.length === limits.numbers) return;
    const text = path.length === 0 ? null : path.join(".");
    if (typeof value === "number") found.push({ path: text, value });
    else if (path.length < limits.levels && typeof value === "object" && value !== null)
      // A path cannot name a key with a dot.
      for (const [key, inner] of Object.entries(value))
        if (key !== "" && !key.includes(".")) walk(inner, [...path, key]);
  };
  walk(parsed(payload), []);
  return found;
}

/** JSON, or the number at the beginning of a text such as "21.5 °C". */
function parsed(payload: string): unknown {
  try {
    return JSON.parse(payload);
  } catch {
    const [, number] = /^([+-]?\d{1,15}(?:\.\d{1,15})?)\s?\S{0,5}$/.exec(payload.trim()) ?? [];
    return number === undefined ? null : Number(number);
  }
}
