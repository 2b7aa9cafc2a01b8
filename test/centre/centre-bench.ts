import { pino } from "pino";
import { openCentre, type SitePlace } from "../../src/centre/centre.ts";
import { SiteLine } from "../../src/centre/site-line.ts";
import { connectService } from "../../src/client/index.ts";
import { connectThrough } from "../../src/client/through.ts";
import { HttpSettings } from "../../src/config/schema.ts";
import type { Caller, MiningService } from "../../src/contract/service.ts";
import type { Site } from "../../src/contract/sites.ts";
import { startHttpServer } from "../../src/http/index.ts";
import type { RigSpec } from "../../src/simulator/index.ts";
import { onTestFinished } from "../finished.ts";
import { startRelay } from "../relay.ts";
import { type Bench, type BenchOptions, openBench } from "../service/bench.ts";
import { until } from "../until.ts";

const log = pino({ level: "silent" });

/** Runs what ends a part: after the test, or when a program that is not a test says so. */
let ending: (end: () => unknown) => void = onTestFinished;
export const atEnd = (end: () => unknown): void => ending(end);
export const endBy = (run: (end: () => unknown) => void): void => {
  ending = run;
};

/** The owner at the centre, and who reads at sites. */
export const owner: Caller = { actor: "test" };

export const key = "key-of-the-centre";

/** A line to a site. */
interface SiteRelay {
  readonly url: string;
  /** Ends all connections to it, and refuses new ones until `join`. */
  cut(): Promise<void>;
  /** Lets no more requests through to it, or no more answers of it from the next write on, while all connections stay. */
  stall(what: "requests" | "answers"): void;
  join(): Promise<void>;
}

export interface RunningSite extends SiteRelay {
  readonly name: string;
  readonly key: string;
  readonly bench: Bench;
}

interface SiteSetup {
  readonly rigs?: readonly RigSpec[];
  /** What the key of the centre may; default: administrator. */
  readonly privilege?: "view" | "control" | "administrator";
  readonly config?: Record<string, unknown>;
}

/** A service with an HTTP server, which can be reached through a relay until that is cut. */
export async function startSite(name: string, { rigs = [], privilege = "administrator", config }: SiteSetup = {}) {
  const users = [{ name: "head-office", key, privilege, centre: true }];
  const bench = await openBench({ rigs, config: { users, ...config } });
  for (const { address, kind } of bench.farm.rigs) await bench.add(address, { driver: kind });
  const settings = HttpSettings.parse({ port: 0, key: `key-of-${name.replaceAll(" ", "-")}-itself` });
  const server = await startHttpServer({ service: bench.service, settings, log, version: "1" });
  atEnd(() => server.close());
  const running: RunningSite = { name, key, bench, ...(await startSiteRelay(server.address.port)) };
  return running;
}

/** A line to a server of this machine. */
async function startSiteRelay(port: number): Promise<SiteRelay> {
  let isCut = false;
  /** A write has passed since answers are stalled. */
  let isWritten = false;
  let stalled: "requests" | "answers" | null = null;
  const sockets = new Set<{ destroy(): void }>();
  const relay = await startRelay({ host: "127.0.0.1", port }, (client, behind) => {
    if (isCut) return void client.destroy();
    for (const socket of [client, behind]) {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
    }
    // A stalled line takes what is sent, and does not pass it on.
    client.on("data", (bytes) => {
      if (stalled !== "requests") behind.write(bytes);
      isWritten ||= stalled === "answers" && bytes.includes("POST ");
    });
    behind.on("data", (bytes) => {
      if (!isWritten) client.write(bytes);
    });
    client.on("end", () => behind.end());
    behind.on("end", () => client.end());
  });
  atEnd(() => relay.close());
  return {
    url: `http://127.0.0.1:${relay.port}`,
    cut: async () => {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    stall: (what) => {
      stalled = what;
    },
    join: async () => {
      isCut = false;
      stalled = null;
      isWritten = false;
    },
  };
}

export interface RunningCentre {
  readonly own: Bench;
  readonly centre: MiningService;
  site(name: string): Promise<Site | undefined>;
  /** Waits for a site to come into a state. */
  reaches(name: string, state: Site["state"]): Promise<void>;
  close(): Promise<void>;
}

type Place = Pick<RunningSite, "name" | "url" | "key">;

/** The centre's places of sites that connect by themselves, beside others. */
export interface ConnectingPlace {
  readonly name: string;
  readonly connectsOut: true;
}

/** A centre over these sites; it waits until all of them are connected, unless told otherwise. */
export async function startCentre(
  sites: readonly (Place | ConnectingPlace)[],
  {
    own,
    waits = true,
    poll = 1,
  }: {
    readonly own?: Bench | BenchOptions;
    readonly waits?: boolean;
    /** Seconds, twice which a site may be silent; for tests that cut no line, more than a machine stalls. */
    readonly poll?: number;
  } = {},
): Promise<RunningCentre> {
  const bench = own !== undefined && "service" in own ? own : await openBench(own);
  const places = sites.map((site): SitePlace => {
    const { name } = site;
    if ("connectsOut" in site) {
      const line = new SiteLine(100);
      return { name, url: null, line, service: connectThrough(line.dial, { name, isCentre: true, poll, log }) };
    }
    const { url, key: itsKey } = site;
    return { name, url, service: connectService({ url, name, key: itsKey, isCentre: true, poll, log }) };
  });
  const display = () => ({ locale: "en-US", currency: "USD", timeZone: "UTC" });
  const centre = await openCentre({ own: bench.service, places, store: bench.store, display, log });
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (isOpen) await centre.close();
    isOpen = false;
  };
  atEnd(close);
  const site = async (name: string) => (await centre.listSites({}, owner)).find((each) => each.name === name);
  const reaches = (name: string, state: Site["state"]) =>
    until(async () => (await site(name))?.state === state, `${name} to be ${state}`, { details: () => site(name) });
  if (waits) for (const { name } of sites) await reaches(name, "connected");
  return { own: bench, centre, site, reaches, close };
}
