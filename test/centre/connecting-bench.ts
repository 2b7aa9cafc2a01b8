import { once } from "node:events";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { createServer } from "node:tls";
import { pino } from "pino";
import { CentreLink, type CentreLinkOptions } from "../../src/centre/centre-link.ts";
import { HttpSettings } from "../../src/config/schema.ts";
import type { Privilege } from "../../src/contract/resources.ts";
import type { MiningService } from "../../src/contract/service.ts";
import { type HttpServer, startHttpServer } from "../../src/http/index.ts";
import type { RigSpec } from "../../src/simulator/index.ts";
import { ownCertificate } from "../agent/https-server.ts";
import { startRelay } from "../relay.ts";
import { type Bench, openBench } from "../service/bench.ts";
import { until } from "../until.ts";
import { atEnd, owner, type RunningCentre, startCentre } from "./centre-bench.ts";

const silent = pino({ level: "silent" });

/** Times of a link in tests: it tries again soon. */
const quick: NonNullable<CentreLinkOptions["limits"]> = { backOff: { firstMs: 20, longestMs: 100 }, refusedMs: 50 };

export async function serve(service: MiningService, settings: Record<string, unknown> = {}): Promise<HttpServer> {
  const http = HttpSettings.parse({ port: 0, key: "key-of-this-service-itself", ...settings });
  const server = await startHttpServer({ service, settings: http, log: silent, version: "1" });
  atEnd(() => server.close());
  return server;
}

/** A centre, and the line over which sites connect to it. */
export interface CentreBench extends RunningCentre, Line {
  readonly server: HttpServer;
  /** The number of a site. */
  numberOf(name: string): Promise<number>;
  /** Makes the token of a site. */
  token(name: string): Promise<string>;
}

/** A centre with sites that connect to it. */
export async function startOpenCentre(
  names: readonly string[],
  own: NonNullable<Parameters<typeof startCentre>[1]>["own"] = {},
): Promise<CentreBench> {
  const sites = names.map((name) => ({ name, connectsOut: true as const }));
  const running = await startCentre(sites, { own, waits: false });
  const server = await serve(running.centre);
  const line = await startLine(server.address.port);
  const numberOf = async (name: string): Promise<number> => (await running.site(name))?.id ?? 0;
  return {
    ...running,
    ...line,
    server,
    numberOf,
    token: async (name) => (await running.centre.admitSite({ id: await numberOf(name) }, owner)).token,
  };
}

/** Where sites connect. */
interface Line {
  readonly url: string;
  /** Ends all connections, and refuses new ones until `join`. */
  cut(): void;
  join(): void;
}

/** A line to a server of this machine. */
export async function startLine(port: number): Promise<Line> {
  let isCut = false;
  const sockets = new Set<{ destroy(): void }>();
  const relay = await startRelay({ host: "127.0.0.1", port }, (client, behind) => {
    if (isCut) return void client.destroy();
    sockets.add(client);
    client.on("close", () => sockets.delete(client));
    client.pipe(behind);
    behind.pipe(client);
  });
  atEnd(() => relay.close());
  return {
    url: `http://127.0.0.1:${relay.port}`,
    cut: () => {
      isCut = true;
      for (const socket of sockets) socket.destroy();
    },
    join: () => {
      isCut = false;
    },
  };
}

/** The same over TLS: its address, and the certificate of the authority that signed it. */
export async function startTlsLine(port: number): Promise<{ readonly url: string; readonly ca: string }> {
  const { key, cert } = ownCertificate();
  const sockets = new Set<Duplex>();
  const server = createServer({ key, cert }, (client) => {
    const behind = connect(port, "127.0.0.1");
    for (const socket of [client, behind]) {
      sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => [client, behind].map((each) => each.destroy()));
    }
    client.pipe(behind).pipe(client);
  });
  // A client that does not trust it.
  server.on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  atEnd(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port");
  return { url: `https://localhost:${address.port}`, ca: cert };
}

export interface ConnectingSite {
  readonly bench: Bench;
  readonly server: HttpServer;
  /** What its link has logged. */
  readonly lines: readonly string[];
  /** Waits for a line that contains this. */
  says(text: string): Promise<void>;
}

/** A service that nobody is told the address of. */
export async function startHiddenSite(rigs: readonly RigSpec[] = []): Promise<Omit<ConnectingSite, "lines" | "says">> {
  const bench = await openBench({ rigs });
  for (const { address, kind } of bench.farm.rigs) await bench.add(address, { driver: kind });
  return { bench, server: await serve(bench.service) };
}

/** Connects a service to a centre. */
export function link(
  { bench, server }: Pick<ConnectingSite, "bench" | "server">,
  to: {
    readonly url: string;
    readonly token: string;
    readonly privilege?: Privilege;
    readonly instance?: string;
  } & Partial<Pick<CentreLinkOptions, "ca" | "insecure">>,
): Pick<ConnectingSite, "lines" | "says"> & { close(): void } {
  const lines: string[] = [];
  const log = pino({ level: "info" }, { write: (line: string) => lines.push(JSON.parse(line).msg) });
  const opened = new CentreLink({
    url: new URL(to.url),
    token: to.token,
    ca: to.ca ?? null,
    insecure: to.insecure ?? false,
    instance: to.instance ?? bench.store.instance,
    serve: (connection) => server.serveCentre(connection, { name: "office", privilege: to.privilege ?? "control" }),
    log,
    limits: quick,
  });
  atEnd(() => opened.close());
  const says = (text: string) =>
    until(() => lines.some((line) => line.includes(text)), `the line ${JSON.stringify(text)}`, {
      details: async () => lines,
    });
  return { lines, says, close: () => opened.close() };
}

/** A service with rigs that is connected to this centre as this site. */
export async function startConnectingSite(
  centre: CentreBench,
  name: string,
  {
    rigs = [],
    url = centre.url,
    ...options
  }: { readonly rigs?: readonly RigSpec[]; readonly privilege?: Privilege; readonly url?: string } = {},
): Promise<ConnectingSite & { close(): void }> {
  const site = await startHiddenSite(rigs);
  const token = await centre.token(name);
  const linked = link(site, { url, token, ...options });
  await centre.reaches(name, "connected");
  return { ...site, ...linked };
}
