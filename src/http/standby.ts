import { once } from "node:events";
import type { Logger } from "pino";
import type { HttpSettings } from "../config/schema.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { takeUpgrades } from "./inward-sockets.ts";
import { endConnections, limitedServer } from "./limited-server.ts";
import { type HttpLimits, httpLimits } from "./limits.ts";
import { Connections, type Exchange } from "./pass-on.ts";
import { passedOnHeader, refuse, takePassedOn } from "./passed-on.ts";
import { activePath, healthPath, pathOf } from "./paths.ts";
import { RequestQueues } from "./request-queue.ts";

/** The service of the site that is active. */
export interface ActiveService {
  /** Where it serves; null if it has not said. */
  readonly address: string | null;
  readonly epoch: number;
  /** Known only to the services of the site, and only while this one is active. */
  readonly secret: string;
}

export interface Standby {
  /**
   * Listens from now on, and passes requests on to this service; null: none is known. A service that cannot listen yet
   * goes on waiting: it will have to once it is active.
   */
  serve(active: ActiveService | null): void;
  close(): Promise<void>;
}

export interface StandbyOptions {
  readonly http: Pick<HttpSettings, "host" | "port">;
  readonly version: string;
  readonly log: Logger;
  readonly limits?: HttpLimits;
}

const listenAgainMs = 5_000;

/** The server of a service that waits for its store: answers its health, and passes all else on to the active one. */
export function openStandby({ http, version, log, limits = httpLimits }: StandbyOptions): Standby {
  const since = new Date().toISOString();
  const queues = new RequestQueues(limits);
  const connections = new Connections(limits.body);
  let active: ActiveService | null = null;
  /** The epoch whose service is known to be out of reach. */
  let outOfReach: number | null = null;
  const logOnce = (trouble: string): void => {
    const { epoch = null } = active ?? {};
    if (outOfReach !== epoch) log.warn(trouble);
    outOfReach = epoch;
  };

  const destination = (exchange: Exchange) => {
    if (isAt(activePath, exchange)) throw noActive("This service waits while another one of its site is active");
    return activeFor(exchange);
  };
  const activeFor = ({ request }: Exchange) => {
    if (active === null)
      throw noActive("The database of the store is away, and no service of the site is known to be active");
    const { address, secret } = active;
    if (address === null) throw noActive("The active service of the site has not said where it serves");
    if (request.headers[passedOnHeader] === undefined) return { address, secret };
    takePassedOn(request, secret);
    logOnce(
      `The address of the active service, ${address}, leads to a service that waits; its http.host must be an address ` +
        "at which the others reach it",
    );
    throw noActive(`The address of the active service, ${address}, leads to one that waits`);
  };
  const answer = (exchange: Exchange): void => {
    const { request, response } = exchange;
    if (isAt(healthPath, exchange)) {
      request.resume();
      response.setHeader("content-type", "application/json; charset=utf-8");
      response.setHeader("cache-control", "no-store");
      response.end(JSON.stringify({ status: "ok", version, role: "standby", epoch: active?.epoch ?? null, since }));
      return;
    }
    const fail = (problem: RigbridgeError): void => {
      request.resume();
      refuse(response, problem);
    };
    try {
      const to = destination(exchange);
      connections.passOn(exchange, to, (error) => {
        logOnce(`The active service at ${to.address} cannot be reached from here: ${error.message}`);
        fail(unreachable(to.address));
      });
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      fail(error);
    }
  };

  const server = limitedServer(
    (request, response) => answer({ request, response, upgrade: null }),
    queues,
    limits,
    log,
  );
  takeUpgrades(
    server,
    (socket) => queues.release(socket),
    (request, response, upgrade) => answer({ request, response, upgrade }),
  );
  const listen = (): void => {
    if (!server.listening)
      server.listen({ host: http.host === "localhost" ? "127.0.0.1" : http.host, port: http.port });
  };
  let again: NodeJS.Timeout | undefined;
  server.on("error", (error) => {
    if (again === undefined) log.warn({ err: error }, "A service that waits cannot listen at its address");
    clearTimeout(again);
    again = setTimeout(listen, listenAgainMs);
  });
  return {
    serve: (found) => {
      // Without the database, the last one known is asked as before.
      active = found ?? active;
      listen();
    },
    close: async () => {
      clearTimeout(again);
      queues.close();
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      endConnections(server);
      await closed;
    },
  };
}

const isAt = (path: string, { request: { method, url = "" } }: Exchange): boolean =>
  (method === "GET" || method === "HEAD") && pathOf(url).toLowerCase().replace(/\/$/, "") === path;

const noActive = (message: string): RigbridgeError => new RigbridgeError("service.no.active", message);

const unreachable = (address: string): RigbridgeError =>
  new RigbridgeError(
    "service.active-unreachable",
    `This service waits, and cannot reach the active one of its site at ${address}; ask that one`,
  );
