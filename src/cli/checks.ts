import { access, readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { isDatabaseUrl } from "../config/database-url.ts";
import { rigDefaults } from "../config/rig-defaults.ts";
import { rigLogin } from "../config/rig-login.ts";
import type { Config, MinerSettings } from "../config/schema.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { parseAddress } from "../link/address.ts";
import { drivers } from "../link/drivers/index.ts";
import { identify } from "../link/identify.ts";
import { walkGroups } from "../service/nested-groups.ts";
import type { ExaminedDatabase } from "../store/index.ts";
import { diskFinding, type Finding } from "./findings.ts";
import { type Client, caller } from "./service-options.ts";
import { leaseFile, ownKeyFile, type PlaceOptions, type ServicePlace, servicePlace } from "./store-place.ts";
import { counted } from "./table.ts";

/** An error's message and its mistakes, each on a line. */
const linesOf = (error: unknown): string => {
  if (!(error instanceof RigbridgeError)) return String(error);
  return [error.message, ...error.errors.map(({ path, message }) => `${path}: ${message}`)].join("\n");
};

/** The configuration, and what it says; null if it cannot be read. */
export async function checkConfiguration(options: PlaceOptions): Promise<[Finding, ServicePlace | null]> {
  const subject = "Configuration";
  try {
    const place = await servicePlace(options);
    const { read } = place;
    if (read === null) return [{ subject, ok: true, message: "there is no file, so the defaults are used" }, place];
    const warnings = read.warnings.join("\n");
    const message = warnings === "" ? `${read.file.name} has no mistakes` : warnings;
    return [{ subject, ok: warnings === "", message, advice: "change the permissions of the file" }, place];
  } catch (error) {
    return [{ subject, ok: false, message: linesOf(error), advice: "correct it, then start the service again" }, null];
  }
}

export async function checkStore({ store, read, files }: ServicePlace): Promise<Finding[]> {
  const subject = "Store";
  if (isDatabaseUrl(store)) {
    const allowLoss = read?.config.store.allowLoss === true;
    return [await checkDatabase(subject, { url: store, allowLoss, markFile: leaseFile(files) })];
  }
  const { examineStore, freeBytes, megabytes } = await import("../store/index.ts");
  try {
    const examined = examineStore(store);
    const disk = diskFinding(dirname(resolve(store)), freeBytes(resolve(store)));
    if (examined === null) return [{ subject, ok: true, message: `there is none yet at ${store}` }, disk];
    const { bytes, isOlder, holder } = examined;
    const use = holder === null ? "not in use" : `in use by process ${holder}`;
    const age = isOlder ? "; the next start of this version upgrades it" : "";
    return [{ subject, ok: true, message: `${store}, ${megabytes(bytes)}, ${use}${age}` }, disk];
  } catch (error) {
    // Its message says what to do.
    return [{ subject, ok: false, message: linesOf(error) }];
  }
}

async function checkDatabase(subject: string, database: ExaminedDatabase): Promise<Finding> {
  const { examinePostgres } = await import("../store/index.ts");
  try {
    const { name, active } = await examinePostgres(database);
    const use = active === null ? "no service is active" : `the active service is ${active}`;
    return { subject, ok: true, message: `${name}, ${use}` };
  } catch (error) {
    // Its message says what to do.
    return { subject, ok: false, message: linesOf(error) };
  }
}

/** Whether a service that is not running could listen. */
export async function checkPort({ host, port }: Config["http"]): Promise<Finding> {
  const subject = "Port";
  const { checkListening } = await import("../http/server.ts");
  try {
    await checkListening({ host, port });
    return { subject, ok: true, message: `${port} at ${host} is free; no service is running` };
  } catch (error) {
    return { subject, ok: false, message: linesOf(error), advice: "end the other program, or choose another port" };
  }
}

/** The key of the service on this machine, for calling it. */
export async function localKey({ read, files }: ServicePlace): Promise<string | undefined> {
  const configured = read?.config.http.key;
  if (configured !== undefined) return configured;
  const made = await readFile(ownKeyFile(files), "utf8").catch(() => "");
  return made.trim() === "" ? undefined : made.trim();
}

/** Whether systemd has set the clock by the network; null: that is unknown, as with another program for the time. */
export const isSynchronised = (): Promise<true | null> =>
  access("/run/systemd/timesync/synchronized").then(
    () => true,
    () => null,
  );

/** The broker of a running service, by its own test. */
export async function checkServiceBroker(service: Client): Promise<Finding[]> {
  try {
    const { sections } = await service.listSettings({}, caller);
    const effective = sections.find(({ key }) => key === "mqtt")?.effective ?? null;
    if (effective === null) return [noBroker];
    const { findings } = await service.testSettings({ section: "mqtt" }, caller);
    return brokerFindings(findings);
  } catch (error) {
    return [{ subject: "Broker", ok: null, message: linesOf(error), advice: "give the key of an administrator" }];
  }
}

export async function checkBroker(mqtt: Config["mqtt"]): Promise<Finding[]> {
  if (mqtt === undefined) return [noBroker];
  const { tryBroker } = await import("../mqtt/trial.ts");
  return brokerFindings(await tryBroker(mqtt, AbortSignal.timeout(15_000)));
}

const noBroker: Finding = { subject: "Broker", ok: true, message: "none is configured" };

const brokerFindings = (tried: readonly { readonly ok: boolean | null; readonly message: string }[]): Finding[] =>
  tried.map(({ ok, message }) => ({ subject: "Broker", ok, message, advice: "correct the section mqtt" }));

const loginAdvice = "set its login in the dashboard, or in the configuration";

/** The sites of a running service that are its centre; none for another. */
export async function checkServiceSites(service: Client): Promise<Finding[]> {
  if (!(await service.features()).has("listSites")) return [];
  return (await service.listSites({}, caller))
    .filter(({ state }) => state === "unreachable" || state === "refused")
    .map(({ name, problem }) => ({
      subject: "Site",
      ok: false,
      message: `${name} cannot be reached: ${problem ?? "it does not answer"}`,
      advice: "look at the service there, the line and the key; correct the section sites",
    }));
}

/** The rigs of a running service: the logins that they refuse, by its open notifications. */
export async function checkServiceLogins(service: Client): Promise<Finding[]> {
  const { notificationList } = await service.listNotifications({}, caller);
  const { miners } = await service.listMinerRows({ view: "list", fields: ["status"] }, caller);
  const wrong = notificationList.filter(
    ({ closedUtc, coded }) => closedUtc === null && coded?.title?.code.startsWith("notices.login.") === true,
  );
  const reached = miners.filter(({ siteUnreachable }) => siteUnreachable === undefined);
  const away = reached.filter(({ status }) => status === "Disconnected").length;
  return [
    ...wrong.map(({ minerName, message }) => refused(minerName, message)),
    ...(wrong.length > 0 ? [] : [loginsRight(reached.length - away)]),
    ...(away === 0 ? [] : [awayFinding(`${counted(away, "rig")} cannot be reached`)]),
  ];
}

/** Rigs of the configuration that are read at most; a farm has a running service. */
const mostRead = 50;

type RigSettings = Pick<Config, "miners" | "groups" | "defaults" | "logins" | "poll">;

/** Reads the rigs of the configuration once. */
export async function checkLogins(config: RigSettings): Promise<Finding[]> {
  const results = await Promise.all(config.miners.slice(0, mostRead).map((miner) => readLogin(miner, config)));
  const found = results.filter((each) => each !== null);
  const right = results.length - found.length;
  return found.some(({ ok }) => ok === false) || right === 0 ? found : [loginsRight(right), ...found];
}

/** Null if it can be read with its login. */
async function readLogin(miner: MinerSettings, config: RigSettings): Promise<Finding | null> {
  const { address, name = address, driver: wanted } = miner;
  const driver = drivers.find(({ id }) => id === wanted);
  const signal = AbortSignal.timeout(15_000);
  try {
    const rigAddress = parseAddress(address);
    const { login } = rigDefaults(config.defaults, rigAddress.host, groupsAround(miner.group, config.groups));
    const credentials = {
      ...rigLogin({ ...miner, login: miner.login ?? login }, config.logins),
      makersLogin: config.poll.makersLogins,
    };
    const { rig } = await identify(rigAddress, credentials, signal, driver);
    try {
      const { locked } = await rig.read(signal);
      return locked?.why.startsWith("login") === true ? refused(name, locked.text) : null;
    } finally {
      rig.close();
    }
  } catch (error) {
    if (error instanceof RigbridgeError && error.code === "rig.login") return refused(name, error.message);
    return awayFinding(`${name} cannot be read: ${linesOf(error)}`);
  }
}

/** The names of a group and of those around it. */
function groupsAround(name: string | undefined, groups: Config["groups"]): ReadonlySet<string> {
  const found = [...walkGroups(groups)].find(({ group }) => group.name === name);
  return new Set(found === undefined ? [] : [...found.above, found.group].map((group) => group.name));
}

const refused = (name: string, message: string): Finding => ({
  subject: "Login",
  ok: false,
  message: message.includes(name) ? message : `${name}: ${message}`,
  advice: loginAdvice,
});

const awayFinding = (message: string): Finding => ({
  subject: "Rigs",
  ok: null,
  message,
  advice: "look whether they are on, and at their addresses: rigbridge list --down",
});

const loginsRight = (count: number): Finding => ({
  subject: "Logins",
  ok: true,
  message: count === 0 ? "there is no rig to log in at" : `${counted(count, "rig")}, none of which refuses its login`,
});
