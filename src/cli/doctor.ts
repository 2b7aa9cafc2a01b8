import type { Command } from "commander";
import { connectService } from "../client/index.ts";
import { defaultConfig } from "../config/index.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { urlsIn } from "../contract/service-urls.ts";
import { hostForUrl } from "../http/security.ts";
import {
  checkBroker,
  checkConfiguration,
  checkLogins,
  checkPort,
  checkServiceBroker,
  checkServiceLogins,
  checkServiceSites,
  checkStore,
  isSynchronised,
  localKey,
} from "./checks.ts";
import { isColoured } from "./colours.ts";
import { failing } from "./failure.ts";
import { clockFinding, type Finding, findingsText } from "./findings.ts";
import { caller, type ServiceOptions, serviceCommand } from "./service-options.ts";
import { type PlaceOptions, placeOptions } from "./store-place.ts";

type DoctorOptions = PlaceOptions & ServiceOptions;

export function doctorCommand(): Command {
  const command = serviceCommand("doctor", "rigbridge doctor --data /var/lib/rigbridge")
    .description("Checks the configuration, store, disk, clock, port, broker and logins, and says what to do.")
    .action(
      failing((options: DoctorOptions, command: Command) =>
        doctor(options, command.getOptionValueSource("service") !== "default"),
      ),
    );
  for (const option of placeOptions()) command.addOption(option);
  return command;
}

/** The exit code is 1 if something is wrong. `isNamed`: whether the service's URL was given. */
async function doctor(options: DoctorOptions, isNamed: boolean): Promise<void> {
  const [configuration, place] = await checkConfiguration(options);
  const config = place?.read?.config ?? defaultConfig();
  const { host, port } = config.http;
  const urls = isNamed ? urlsIn(options.service) : [`http://${hostForUrl(host)}:${port}`];
  const answer = await firstHealth(urls);
  const clock = clockFinding({
    now: Date.now(),
    isSynchronised: await isSynchronised(),
    ofService: answer?.time ?? null,
  });
  const local = [configuration, ...(place === null ? [] : await checkStore(place)), clock];
  const rest = async (): Promise<Finding[]> => {
    if (answer !== null) {
      // A service elsewhere must not get the key of this one.
      const key = options.key ?? (isNamed || place === null ? undefined : await localKey(place));
      return ofService(answer.version, answer.url, key);
    }
    if (isNamed)
      return [
        {
          subject: "Service",
          ok: false,
          message: `none answers at ${urls.join(", ")}`,
          advice: "start it, or correct the URL",
        },
      ];
    if (place === null) return [];
    return [await checkPort(config.http), ...(await checkBroker(config.mqtt)), ...(await checkLogins(config))];
  };
  const findings = [...local, ...(await rest())];
  console.log(findingsText(findings, isColoured(process.stdout)));
  if (findings.some(({ ok }) => ok === false)) process.exitCode = 1;
}

/** Of the first of these URLs at which a Rigbridge answers. */
async function firstHealth(urls: readonly string[]) {
  for (const url of urls) {
    const health = await healthAt(url);
    if (health !== null) return { ...health, url };
  }
  return null;
}

/** The version of the Rigbridge at this URL, and its clock; null if there is none. */
async function healthAt(url: string): Promise<{ readonly version: string; readonly time: number | null } | null> {
  try {
    const answer = await fetch(new URL("/health", url), { signal: AbortSignal.timeout(5_000), redirect: "error" });
    const body: unknown = await answer.json();
    if (typeof body !== "object" || body === null || !("version" in body) || typeof body.version !== "string")
      return null;
    const time = Date.parse(answer.headers.get("date") ?? "");
    return { version: body.version, time: Number.isNaN(time) ? null : time };
  } catch {
    return null;
  }
}

async function ofService(version: string, url: string, key: string | undefined): Promise<Finding[]> {
  const running: Finding = { subject: "Service", ok: true, message: `Rigbridge ${version} answers at ${url}` };
  const service = connectService({ url, key });
  try {
    await service.about(caller);
    const checks = [checkServiceBroker, checkServiceSites, checkServiceLogins];
    return [running, ...(await Promise.all(checks.map((check) => check(service)))).flat()];
  } catch (error) {
    if (!(error instanceof RigbridgeError)) throw error;
    return [running, { subject: "Key", ok: false, message: error.message, advice: "set the key in RIGBRIDGE_KEY" }];
  } finally {
    await service.close();
  }
}
