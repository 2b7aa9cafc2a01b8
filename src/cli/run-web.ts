import { connectService } from "../client/index.ts";
import { exposed, readConfig, sentence } from "../config/index.ts";
import { HttpSettings } from "../config/schema.ts";
import { type Mistake, RigbridgeError } from "../contract/problems.ts";
import { startHttpServer } from "../http/index.ts";
import { version } from "../version.ts";
import { gateway } from "./gateway.ts";
import { openLog } from "./log.ts";
import { originsOf, type ServiceOptions, withAdvice } from "./service-options.ts";
import { Shutdown } from "./shutdown.ts";

export interface WebOptions extends ServiceOptions {
  readonly config?: string;
  readonly host?: string;
  readonly port?: string;
  readonly webKey?: string;
}

/** Different from 17790, so that it can run on the machine of the service. */
const defaultPort = 17_792;

/** Serves the dashboard of a remote service until a signal stops it. */
export async function runWeb(options: WebOptions): Promise<void> {
  const { service: url, key, locale } = options;
  const settings = await settingsOf(options);
  const log = await openLog();
  const remote = connectService({ url, key, log, ...(locale === undefined ? {} : { locale }) });
  const shutdown = new Shutdown();
  shutdown.takeSignals(log);
  shutdown.add("connection to the service", () => remote.close());
  try {
    await remote.about({ actor: "web" }).catch((error: unknown) => {
      if (!(error instanceof RigbridgeError) || error.status === 401) throw withAdvice(error, url);
      log.warn(`The dashboard waits for the service: ${error.message}`);
    });
    const http = await startHttpServer({ service: gateway(remote), settings, log, version });
    shutdown.add("HTTP server", () => http.close());
    log.info(`Rigbridge ${version} serves the dashboard of ${originsOf(url)} at ${http.url}`);
  } catch (error) {
    await shutdown.close(log);
    throw withOption(error);
  }
}

/** The settings of the configuration, overridden by the options. Throws with every option that is wrong. */
async function settingsOf({ config, host, port, webKey }: WebOptions): Promise<HttpSettings> {
  const file = config === undefined ? { port: defaultPort } : (await readConfig(config)).config.http;
  const isPort = port === undefined || /^\d{1,9}$/.test(port);
  const { data, error } = HttpSettings.safeParse(
    {
      ...file,
      ...(host === undefined ? {} : { host }),
      ...(port === undefined || !isPort ? {} : { port: Number(port) }),
      ...(webKey === undefined ? {} : { key: webKey }),
    },
    { error: sentence },
  );
  const errors: Mistake[] = (error?.issues ?? []).map(({ path: [name], message }) => ({
    path: optionOf(name),
    message,
  }));
  if (!isPort) errors.push({ path: "--port", message: "must be a whole number from 0 to 65535" });
  if (data !== undefined && exposed(data) !== null)
    errors.push({
      path: "--host",
      message: `${data.host} is reachable from other machines; set a key in RIGBRIDGE_WEB_KEY`,
    });
  if (data?.keylessRead)
    errors.push({
      path: "--config",
      message: "http.keylessRead would show everybody what the key of the service may see; give people a key",
    });
  if (data !== undefined && errors.length === 0) return data;
  throw new RigbridgeError("config.invalid", "The dashboard did not start:", { errors });
}

const optionOf = (name: PropertyKey | undefined): string => (name === "key" ? "--web-key" : `--${String(name)}`);

/** The server's message names configuration keys; this adds the options. */
function withOption(error: unknown): unknown {
  if (!(error instanceof RigbridgeError) || !(error.cause instanceof Error) || !("code" in error.cause)) return error;
  return new RigbridgeError(error.code, `${error.message}, with --host or --port`, { cause: error });
}
