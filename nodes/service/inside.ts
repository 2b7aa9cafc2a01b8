import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type MiningService, type Mistake, RigbridgeError } from "rigbridge";
import { type Logger, readLists } from "rigbridge/farm";
import { type Config, checkedConfig, openStore, startService } from "rigbridge/service";
import type { OpenedService } from "../shared/farm-connection.ts";
import { allFaults, Fault } from "../shared/faults.ts";
import { caller } from "../shared/services.ts";
import { type InsideSettings, loginOf, type Secrets } from "./settings.ts";

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

/** The service's configuration. Throws a Fault that names every mistake with its field and row. */
function insideConfig(settings: InsideSettings, secrets: Secrets, file: string): Config {
  const { rigs, scan, networks, locale, interval } = settings;
  const groups = [...new Set(rigs.map(({ group }) => group).filter((group) => group !== ""))];
  const ranges = networks.split(/[\s,;]+/).filter((range) => range !== "");
  try {
    return checkedConfig({
      store: { url: file },
      poll: { interval },
      groups: groups.map((name) => ({ name })),
      miners: rigs.map((rig) => ({
        address: rig.address,
        ...loginOf(rig, secrets),
        ...(rig.name === "" ? {} : { name: rig.name }),
        ...(rig.group === "" ? {} : { group: rig.group }),
      })),
      ...(locale === "" ? {} : { display: { locale } }),
      ...(scan ? { scan: { every: 3600, add: "auto", ...(ranges.length > 0 ? { networks: ranges } : {}) } } : {}),
    });
  } catch (error) {
    if (!(error instanceof RigbridgeError)) throw error;
    throw allFaults(error.errors.map(faultAt)) ?? error;
  }
}

/** Of a path like `miners[1].address`. */
function faultAt({ path, message }: Mistake): Fault {
  const [, section = "", index] = /^(\w+)(?:\[(\d+)\])?/.exec(path) ?? [];
  const field = { miners: "rigs", groups: "rigs", scan: "networks", display: "locale" }[section] ?? section;
  // Users see the rigs as rows.
  const problem = message.replace(/\bminers\[(\d+)\]/g, (_, at) => `rig ${Number(at) + 1}`);
  const row = index === undefined || section !== "miners" ? "" : ` ${Number(index) + 1}`;
  return new Fault("config.invalid", "config", { field: `=field.${field}`, row, problem });
}
