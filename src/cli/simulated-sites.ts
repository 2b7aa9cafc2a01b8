import { randomBytes } from "node:crypto";
import type { Logger } from "pino";
import { pino } from "pino";
import { checkedConfig } from "../config/index.ts";
import { startHttpServer } from "../http/index.ts";
import { openStore, startService } from "../service/index.ts";
import { type Farm, type FarmOptions, farmToken, type SimulatedRig, startFarm } from "../simulator/index.ts";
import { version } from "../version.ts";

export interface SitesOptions {
  readonly sites: number;
  /** The rigs of all sites together; each site has the same number of them. */
  readonly farm: FarmOptions;
  /** Of the first site; the others count up from it. 0: any free ones. */
  readonly port: number;
}

export interface SimulatedSite {
  readonly name: string;
  readonly url: string;
  /** What a centre uses there, as an administrator. */
  readonly key: string;
}

export interface SimulatedSites {
  readonly sites: readonly SimulatedSite[];
  readonly farm: Farm;
  /** Seconds between two reads of a rig. */
  readonly interval: number;
  close(): Promise<void>;
}

/** Reads a second that one process has time for, beside answering as those rigs. */
const readsPerSecond = 500;

/** The same with each start, so that the configuration of a centre stays right. */
const keyOf = (number: number): string => `key-of-simulated-site-${number}`;

/**
 * Sites on 127.0.0.1, each a service with virtual rigs, a store in memory and a key for a centre. Throws `not.possible` if
 * an address or a port is not available.
 */
export async function startSites({ sites, farm: options, port }: SitesOptions): Promise<SimulatedSites> {
  const closing: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of closing.splice(0).reverse()) await end();
  };
  try {
    const farm = await startFarm(options);
    closing.push(() => farm.close());
    const each = farm.rigs.length / sites;
    const interval = Math.max(10, Math.ceil(farm.rigs.length / readsPerSecond));
    const log = pino({ level: "silent" });
    const started: SimulatedSite[] = [];
    for (let at = 0; at < sites; at += 1) {
      const rigs = farm.rigs.slice(at * each, (at + 1) * each);
      const site = await startOne(at + 1, rigs, { interval, port: port === 0 ? 0 : port + at, log });
      closing.push(site.close);
      started.push(site);
    }
    return { sites: started, farm, interval, close };
  } catch (error) {
    await close();
    throw error;
  }
}

interface SiteOptions {
  readonly interval: number;
  readonly port: number;
  readonly log: Logger;
}

async function startOne(number: number, rigs: readonly SimulatedRig[], { interval, port, log }: SiteOptions) {
  const name = `Site ${number}`;
  const key = keyOf(number);
  const miners = rigs.map(({ address, name, kind }) => ({
    address,
    name,
    driver: kind,
    ...(kind === "xmrig" ? { token: farmToken } : {}),
  }));
  // Without one, the service would let everybody in.
  const ownKey = randomBytes(24).toString("base64url");
  const users = [{ name: "centre", key, privilege: "administrator", centre: true }];
  const config = checkedConfig({ http: { port, key: ownKey }, poll: { interval }, users, miners });
  const store = await openStore({ file: ":memory:", now: Date.now });
  const service = await startService({ config, store, log });
  const closeService = async (): Promise<void> => {
    await service.close();
    await store.close();
  };
  const server = await startHttpServer({ service, settings: config.http, log, version }).catch(
    async (error: unknown) => {
      await closeService();
      throw error;
    },
  );
  const close = async (): Promise<void> => {
    await server.close();
    await closeService();
  };
  return { name, url: server.url, key, close };
}
