import { accessSync, constants } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { type Config, isDatabaseUrl } from "../config/index.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { openStandby } from "../http/standby.ts";
import { type Holder, openPostgresStore, openStore, type Store } from "../store/index.ts";
import type { Shutdown } from "./shutdown.ts";
import { leaseFile } from "./store-place.ts";

export interface ServiceStoreOptions {
  /** Where the service serves. */
  readonly address: string;
  /** What its other files lie beside. */
  readonly files: string;
  readonly acceptRestored: boolean;
  /** Whether this process has had a store before: its database is then waited for, and only a first start fails. */
  readonly isAgain: boolean;
}

/** ms until a database is asked again that is away. */
export const askAgainMs = 1_000;

/**
 * The store of a service. In a PostgreSQL database it is shared: while another service of the site is active, this one only
 * says so at its address, and takes its place once that has stopped.
 */
export async function openServiceStore(
  { store: { url, site = "", allowLoss }, http }: Pick<Config, "store" | "http">,
  { address, files, acceptRestored, isAgain }: ServiceStoreOptions,
  version: string,
  log: Logger,
  shutdown: Shutdown,
): Promise<Store> {
  if (!isDatabaseUrl(url) && acceptRestored)
    throw new RigbridgeError(
      "config.invalid",
      "--accept-restored is for a store in a PostgreSQL database; a file that was restored needs no option",
    );
  if (!isDatabaseUrl(url)) return openStore({ file: url, now: Date.now, upgrading: (copy) => logUpgrade(copy, log) });
  const markFile = leaseFile(files);
  checkWritable(markFile, log);
  const ended = new AbortController();
  const standby = openStandby({ http, version, log });
  let isKnown = isAgain;
  const waiting = (holder: Holder | null): void => {
    isKnown = true;
    standby.serve(holder);
    if (holder === null) log.warn("The database of the store is away; this service waits for it");
    else log.info(`Another service of the site is active${at(holder)}; this one waits to take its place`);
  };
  const open = async (): Promise<Store> => {
    const lease = { site, address, markFile, acceptRestored, signal: ended.signal, waiting };
    const folder = dirname(files);
    const beside = { folder: join(folder, "waiting-samples"), commands: join(folder, "waiting-commands"), log };
    const options = { url, now: Date.now, allowLoss, beside, ...lease };
    for (let isSaid = false; ; isSaid = true)
      try {
        return await openPostgresStore(options);
      } catch (error) {
        if (!isKnown || !passes(error)) throw error;
        if (!isSaid) waiting(null);
        await sleep(askAgainMs, undefined, { signal: ended.signal });
      }
  };
  const opening = open();
  let isOpen = false;
  shutdown.add("standby", async () => {
    ended.abort();
    await standby.close();
    // It may have the lease already, and gives it up.
    if (!isOpen) await (await opening.catch(() => undefined))?.close();
  });
  shutdown.startWaits = true;
  try {
    const store = await opening;
    if (store.lease?.isRestored === true)
      log.warn("The database was restored from a backup: commands that were open in it count as unknown");
    log.info(`This service is the active one of the site ${site} (epoch ${store.lease?.epoch})`);
    await standby.close();
    // The process is ending, so nothing more is started.
    if (ended.signal.aborted) await new Promise(() => undefined);
    isOpen = true;
    return store;
  } catch (error) {
    if (ended.signal.aborted) await new Promise(() => undefined);
    await standby.close();
    throw error;
  } finally {
    shutdown.startWaits = false;
  }
}

/** The database is away, or another service has taken over while this one opened the store. */
export const passes = (error: unknown): boolean =>
  error instanceof RigbridgeError && ["service.store-away", "service.no.active"].includes(error.code);

function checkWritable(markFile: string, log: Logger): void {
  const folder = dirname(resolve(markFile));
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch {
    log.warn(`${folder} is not writable, so this service will not notice when its database is restored from a backup`);
  }
}

const at = ({ address }: Holder): string => (address === null ? "" : ` at ${address}`);

function logUpgrade(copy: string | null, log: Logger): void {
  if (copy === null) log.warn("The store is upgraded, and the disk has no room to keep the old one");
  else log.info(`The store is upgraded; the old one is kept as ${copy}`);
}
