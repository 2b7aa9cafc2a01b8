import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type MiningService, sentence } from "rigbridge";
import { type Logger, readLists } from "rigbridge/farm";
import { Config, openStore, startService } from "rigbridge/service";
import type { OpenedService } from "../shared/farm-connection.ts";
import { Fault } from "../shared/faults.ts";
import { caller } from "../shared/services.ts";
import type { InsideSettings, Secrets } from "./settings.ts";

export interface InsideOptions {
  readonly settings: InsideSettings;
  readonly secrets: Secrets;
  /** The store's file; ":memory:" stores nothing. */
  readonly file: string;
  readonly log: Logger;
}

/** Stores that are closing: a deploy may reopen one before that is done. */
const closing = new Map<string, Promise<void>>();

/** Starts a service in this process with its own store. Throws a RigbridgeError or a Fault. */
export async function openInside({ settings, secrets, file, log }: InsideOptions): Promise<OpenedService> {
  const config = insideConfig(settings, secrets, file);
  await closing.get(file);
  if (file !== ":memory:") await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const store = await openStore({ file, now: Date.now });
  try {
    const service = await startService({ config, store, log, eventsKept: 1_000 });
    await firstReads(service);
    const close = async (): Promise<void> => {
      const closed = service.close().finally(() => store.close());
      closing.set(
        file,
        closed.catch(() => undefined),
      );
      await closed.finally(() => closing.delete(file));
    };
    return { service, caller, close };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** ms for the first reads before the service counts as connected; slower rigs show as offline until then. */
const firstReadsMs = 3_000;

async function firstReads(service: MiningService): Promise<void> {
  const { miners } = await readLists(service, caller);
  const reads = miners.map(({ id }) => service.pollMiner({ id }, caller).catch(() => undefined));
  await Promise.race([Promise.all(reads), pause(firstReadsMs, undefined, { ref: false })]);
}

/** The service's configuration. Throws a Fault that names the field. */
function insideConfig(settings: InsideSettings, secrets: Secrets, file: string): Config {
  const { rigs, scan, networks, locale, interval } = settings;
  const login = Object.fromEntries(
    Object.entries({ username: secrets.username, password: secrets.password, token: secrets.token }).filter(
      ([, secret]) => secret !== "",
    ),
  );
  const groups = [...new Set(rigs.map(({ group }) => group).filter((group) => group !== ""))];
  const ranges = networks.split(/[\s,;]+/).filter((range) => range !== "");
  const { data, error } = Config.safeParse(
    {
      store: { url: file },
      poll: { interval },
      groups: groups.map((name) => ({ name })),
      miners: rigs.map(({ address, name, group }) => ({
        ...{ address, ...login },
        ...(name === "" ? {} : { name }),
        ...(group === "" ? {} : { group }),
      })),
      ...(locale === "" ? {} : { display: { locale } }),
      ...(scan ? { scan: { every: 3600, add: "auto", ...(ranges.length > 0 ? { networks: ranges } : {}) } } : {}),
    },
    { error: sentence },
  );
  const [issue] = error?.issues ?? [];
  if (data !== undefined) return data;
  const [where, row] = issue?.path ?? [];
  const field = where === "miners" || where === "groups" ? "rigs" : where === "scan" ? "networks" : String(where);
  const place = { field: `=field.${field}`, row: typeof row === "number" ? ` ${row + 1}` : "" };
  throw new Fault("config.invalid", "config", { ...place, problem: issue?.message ?? "" });
}
