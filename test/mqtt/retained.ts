import type { IClientOptions } from "mqtt";
import { until } from "../until.ts";
import { subscribeAt } from "./mosquitto.ts";

/** The retained messages of a broker, by topic. */
export async function retainedAt(url: string, options: IClientOptions = {}): Promise<Map<string, string>> {
  const listener = await subscribeAt(url, ["#"], options);
  await listener.publish("end/of/retained", "", { qos: 1 });
  await listener.until(({ topic }) => topic === "end/of/retained");
  await listener.close();
  return new Map(listener.received.filter(({ retained }) => retained).map(({ topic, payload }) => [topic, payload]));
}

/** The same, once all of these topics are among them. */
export async function retainedAtLeast(url: string, topics: readonly string[]): Promise<Map<string, string>> {
  let all = new Map<string, string>();
  const missing = (): string[] => topics.filter((topic) => !all.has(topic));
  const isComplete = async (): Promise<boolean> => {
    all = await retainedAt(url);
    return missing().length === 0;
  };
  await until(isComplete, "the broker to retain all topics", { details: () => `Missing: ${missing().join(", ")}` });
  return all;
}
