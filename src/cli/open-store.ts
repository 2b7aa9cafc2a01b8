import type { Logger } from "pino";
import { type Config, isDatabaseUrl } from "../config/index.ts";
import { openStandby } from "../http/standby.ts";
import { type Holder, openPostgresStore, openStore, type Store } from "../store/index.ts";
import type { Shutdown } from "./shutdown.ts";

/**
 * The store of a service. In a PostgreSQL database it is shared: while another service of the site is active, this one only
 * says so at its address, and takes its place once that has stopped.
 */
export async function openServiceStore(
  { store: { url, site = "" }, http }: Pick<Config, "store" | "http">,
  address: string,
  version: string,
  log: Logger,
  shutdown: Shutdown,
): Promise<Store> {
  if (!isDatabaseUrl(url)) return openStore({ file: url, now: Date.now, upgrading: (copy) => logUpgrade(copy, log) });
  const ended = new AbortController();
  const standby = openStandby({ http, version, log });
  shutdown.add("standby", async () => {
    ended.abort();
    await standby.close();
  });
  const waiting = (holder: Holder | null): void => {
    standby.serve(holder);
    if (holder === null) log.warn("The database of the store is away; this service waits for it");
    else log.info(`Another service of the site is active${at(holder)}; this one waits to take its place`);
  };
  try {
    const store = await openPostgresStore({ url, site, address, now: Date.now, signal: ended.signal, waiting });
    log.info(`This service is the active one of the site ${site} (epoch ${store.lease?.epoch})`);
    return store;
  } catch (error) {
    // The process is ending, so nothing more is started.
    if (ended.signal.aborted) await new Promise(() => undefined);
    throw error;
  } finally {
    await standby.close();
  }
}

const at = ({ address }: Holder): string => (address === null ? "" : ` at ${address}`);

function logUpgrade(copy: string | null, log: Logger): void {
  if (copy === null) log.warn("The store is upgraded, and the disk has no room to keep the old one");
  else log.info(`The store is upgraded; the old one is kept as ${copy}`);
}
