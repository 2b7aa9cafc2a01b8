import { homeAssistantSettings, type MqttSettings } from "../config/mqtt.ts";
import { messageIn, RigbridgeError } from "../contract/problems.ts";
import { finding, type SettingsFinding } from "../contract/settings.ts";
import { detail } from "../messages/detail.ts";
import { type MqttConnection, openConnection, placeOf } from "./mqtt-connection.ts";
import { readRetained } from "./read-retained.ts";

/** After this long without another retained message, all are taken to have arrived. */
const quietMs = 1_000;
/** A broker that refuses the subscription may never answer it. */
const retainedMs = 4_000;
/** Where Mosquitto and others say who they are. */
const versionTopic = "$SYS/broker/version";

/** Connects beside the bridge, asks the broker who it is and whether Home Assistant is there, and disconnects. */
export async function tryBroker(settings: MqttSettings, signal: AbortSignal): Promise<SettingsFinding[]> {
  const { url, clientId } = settings;
  if (url === undefined) return [finding(null, detail("trial.inside"))];
  const place = placeOf(url);
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => undefined);
  const fail = (...words: unknown[]): void =>
    failure.reject(new RigbridgeError("service.unreachable", String(words.at(-1))));
  const late = (): void =>
    failure.reject(new RigbridgeError("service.unreachable", detail("trial.brokerLate", { place })));
  signal.addEventListener("abort", late, { once: true });
  let connection: MqttConnection | undefined;
  try {
    connection = await openConnection({
      // With the client id of the bridge it would end its connection.
      settings: { ...settings, url, clientId: `${clientId}-test` },
      log: { info: () => undefined, warn: fail, error: fail },
    });
    await Promise.race([connected(connection), failure.promise]);
    const { birthTopic } = homeAssistantSettings(settings);
    const retained = new Map<string, string>();
    const done = Promise.withResolvers<void>();
    const stop = readRetained({
      connection,
      filters: [versionTopic, birthTopic],
      quietMs,
      receive: ({ topic, payload }) => retained.set(topic, payload.toString().slice(0, 200)),
      done: done.resolve,
    });
    const timer = setTimeout(done.resolve, retainedMs);
    await Promise.race([done.promise, failure.promise]).finally(() => clearTimeout(timer));
    stop();
    const name = retained.get(versionTopic);
    const who = name === undefined ? "" : ` (${name})`;
    const version = connection.version === 5 ? "5" : "3.1.1";
    const accepts = detail("trial.brokerAccepts", { place: `${place}${who}`, version });
    return [finding(true, accepts), homeAssistantAt(settings, birthTopic, retained.get(birthTopic))];
  } catch (error) {
    if (!(error instanceof RigbridgeError)) throw error;
    return [finding(false, messageIn(error))];
  } finally {
    signal.removeEventListener("abort", late);
    await connection?.close();
  }
}

const connected = (connection: MqttConnection): Promise<void> =>
  new Promise((resolve) => connection.connected(resolve));

function homeAssistantAt(settings: MqttSettings, topic: string, state: string | undefined): SettingsFinding {
  if (settings.homeAssistant === false) return finding(null, detail("trial.haOff"));
  if (state === "online") return finding(true, detail("trial.haOnline", { topic }));
  if (state === "offline") return finding(false, detail("trial.haOffline", { topic }));
  return finding(null, detail("trial.haUnknown", { topic }));
}
