import { connectService } from "../client/index.ts";
import { readConfig, sentence } from "../config/index.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { urlsIn } from "../contract/service-urls.ts";
import { MqttSettings, startMqtt } from "../mqtt/index.ts";
import { retract } from "../mqtt/retract.ts";
import { version } from "../version.ts";
import { openLog } from "./log.ts";
import { originsOf, type ServiceOptions } from "./service-options.ts";
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
  readonly retract?: true;
  readonly dryRun?: true;
}

/** Runs the bridge until a signal stops it. */
export async function runMqtt(options: MqttOptions): Promise<void> {
  if (options.dryRun) throw new RigbridgeError("config.invalid", "--dry-run: is only for --retract");
  const first = await settingsOf(options);
  const { service: url, key, locale, data } = options;
  const log = await openLog();
  const shutdown = new Shutdown();
  shutdown.takeSignals(log);
  const run = async (settings: MqttSettings): Promise<void> => {
    const service = connectService({ url, key, log, ...(locale === undefined ? {} : { locale }) });
    shutdown.add("connection to the service", () => service.close());
    const restart = async () => {
      const next = await settingsOf(options);
      return () => void shutdown.restart(log, () => run(next));
    };
    const bridge = await startMqtt({
      service,
      settings,
      log,
      version,
      folder: data,
      page: new URL(urlsIn(url)[0] ?? "").origin,
      restart,
    });
    shutdown.add("MQTT bridge", () => bridge.close());
    log.info(`Rigbridge ${version} bridges ${originsOf(url)} to ${settings.url ?? "the embedded broker"}`);
  };
  try {
    await run(first);
  } catch (error) {
    await shutdown.close(log);
    throw error;
  }
}

/** Removes the retained messages of a bridge with these settings from the broker. */
export async function retractBridge(options: MqttOptions): Promise<void> {
  const settings = await settingsOf(options);
  const { url } = settings;
  if (url === undefined)
    throw new RigbridgeError(
      "config.invalid",
      "--retract needs the URL of a broker; the embedded one forgets everything when Rigbridge stops",
    );
  const dryRun = options.dryRun === true;
  await retract({ settings: { ...settings, url }, dryRun, report: (line) => console.log(line) });
}

/** The settings of the configuration, overridden by the options. Throws with every option that is wrong. */
async function settingsOf(options: MqttOptions): Promise<MqttSettings> {
  const { broker, clientId, username, password, ca, cert, certKey, base, interval, prefix, homeAssistant } = options;
  const file = options.config === undefined ? {} : ((await readConfig(options.config)).config.mqtt ?? {});
  const own = "homeAssistant" in file ? file.homeAssistant : undefined;
  const given = { url: broker, clientId, username, password, ca, cert, key: certKey, base };
  const wanted = {
    ...file,
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    ...(broker === undefined ? {} : { broker: undefined }),
    ...(interval === undefined ? {} : { interval: Number(interval) }),
    ...(prefix === undefined ? {} : { homeAssistant: { ...(typeof own === "object" ? own : {}), prefix } }),
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
