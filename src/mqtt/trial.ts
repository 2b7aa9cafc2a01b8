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
/** Where Mosquitto and others publish their version. */
const versionTopic = "$SYS/broker/version";

/** Connects beside the bridge, reads the broker's version and whether Home Assistant is there, and disconnects. */
export async function tryBroker(settings: MqttSettings, signal: AbortSignal): Promise<SettingsFinding[]> {
  const { url } = settings;
  if (url === undefined) return [finding(null, detail("trial.inside"))];
  const place = placeOf(url);
  const { birthTopic } = homeAssistantSettings(settings);
  const retained = new Map<string, string>();
  try {
    const version = await besideBridge({ ...settings, url }, "test", signal, async (connection) => {
      const done = Promise.withResolvers<void>();
      const stop = readRetained({
        connection,
        filters: [versionTopic, birthTopic],
        quietMs,
        receive: ({ topic, payload }) => retained.set(topic, payload.toString().slice(0, 200)),
        done: done.resolve,
      });
      const timer = setTimeout(done.resolve, retainedMs);
      await done.promise.finally(() => clearTimeout(timer));
      stop();
      return connection.version;
    });
    const name = retained.get(versionTopic);
    const who = name === undefined ? "" : ` (${name})`;
    const accepts = detail("trial.brokerAccepts", { place: `${place}${who}`, version: version === 5 ? "5" : "3.1.1" });
    return [finding(true, accepts), homeAssistantAt(settings, birthTopic, retained.get(birthTopic))];
  } catch (error) {
    if (!(error instanceof RigbridgeError)) throw error;
    return [finding(false, messageIn(error))];
  }
}

/**
 * Works with a connection besides the bridge's own, and closes it. Rejects with the broker's refusal, and once `signal`
 * is aborted.
 */
export async function besideBridge<T>(
  settings: MqttSettings & { readonly url: string },
  purpose: string,
  signal: AbortSignal,
  work: (connection: MqttConnection) => Promise<T>,
): Promise<T> {
  const failure = Promise.withResolvers<never>();
  failure.promise.catch(() => undefined);
  const fail = (...words: unknown[]): void =>
    failure.reject(new RigbridgeError("service.unreachable", String(words.at(-1))));
  const late = (): void =>
    failure.reject(
      new RigbridgeError("service.unreachable", detail("trial.brokerLate", { place: placeOf(settings.url) })),
    );
  signal.addEventListener("abort", late, { once: true });
  let connection: MqttConnection | undefined;
  try {
    connection = await openConnection({
      // The client id of the bridge would end its connection.
      settings: { ...settings, clientId: `${settings.clientId}-${purpose}` },
      log: { info: () => undefined, warn: fail, error: fail },
    });
    await Promise.race([connected(connection), failure.promise]);
    return await Promise.race([work(connection), failure.promise]);
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
