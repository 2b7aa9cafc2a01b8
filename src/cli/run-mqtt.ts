import { connectService } from "../client/index.ts";
import { readConfig, sentence } from "../config/index.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { MqttSettings, startMqtt } from "../mqtt/index.ts";
import { version } from "../version.ts";
import { openLog } from "./log.ts";
import type { ServiceOptions } from "./service-options.ts";
import { Shutdown } from "./shutdown.ts";

export interface MqttOptions extends ServiceOptions {
  readonly config?: string;
  readonly broker?: string;
  readonly clientId?: string;
  readonly username?: string;
  readonly password?: string;
  readonly ca?: string;
  readonly cert?: string;
  readonly certKey?: string;
  readonly base?: string;
  readonly interval?: string;
  readonly prefix?: string;
  readonly homeAssistant: boolean;
  readonly data: string;
}

/** Runs the bridge until a signal stops it. */
export async function runMqtt(options: MqttOptions): Promise<void> {
  const settings = await settingsOf(options);
  const { service: url, key, locale, data } = options;
  const log = openLog();
  const shutdown = new Shutdown();
  shutdown.takeSignals(log);
  const service = connectService({ url, key, log, ...(locale === undefined ? {} : { locale }) });
  shutdown.add("connection to the service", () => service.close());
  try {
    const bridge = await startMqtt({ service, settings, log, version, folder: data, page: new URL(url).origin });
    shutdown.add("MQTT bridge", () => bridge.close());
    log.info(`Rigbridge ${version} bridges ${new URL(url).origin} to ${settings.url ?? "the embedded broker"}`);
    await bridge.ended;
  } finally {
    await shutdown.close(log);
  }
}

/** The settings of the configuration, overridden by the options. Throws with every option that is wrong. */
async function settingsOf(options: MqttOptions): Promise<MqttSettings> {
  const { broker, clientId, username, password, ca, cert, certKey, base, interval, prefix, homeAssistant } = options;
  const file = options.config === undefined ? {} : ((await readConfig(options.config)).config.mqtt ?? {});
  const given = { url: broker, clientId, username, password, ca, cert, key: certKey, base };
  const wanted = {
    ...file,
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    ...(broker === undefined ? {} : { broker: undefined }),
    ...(interval === undefined ? {} : { interval: Number(interval) }),
    ...(prefix === undefined ? {} : { homeAssistant: { prefix } }),
    ...(homeAssistant ? {} : { homeAssistant: false }),
  };
  const { data, error } = MqttSettings.safeParse(wanted, { error: sentence });
  if (data !== undefined) return data;
  const errors = error.issues.map(({ path: [name], message }) => ({ path: optionOf(name), message }));
  throw new RigbridgeError("config.invalid", "The bridge did not start:", { errors });
}

const options: Readonly<Record<string, string>> = {
  url: "--broker",
  clientId: "--client-id",
  key: "--cert-key",
  homeAssistant: "--prefix",
};

const optionOf = (name: PropertyKey | undefined): string => options[String(name)] ?? `--${String(name)}`;
