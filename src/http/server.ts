import { once } from "node:events";
import { createServer } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import type { HttpSettings } from "../config/schema.ts";
import type { ActingLease } from "../contract/lease.ts";
import type { MqttStatus } from "../contract/mqtt-status.ts";
import { RigbridgeError } from "../contract/problems.ts";
import type { RemoteWriteStatus } from "../contract/remote-write-status.ts";
import type { MiningService } from "../contract/service.ts";
import type { SessionLog } from "../contract/session.ts";
import type { StoreWaiting } from "../contract/store-waiting.ts";
import { buildApp } from "./app.ts";
import { endConnections } from "./limited-server.ts";
import { type HttpLimits, httpLimits } from "./limits.ts";
import { LoginCodes } from "./login-codes.ts";
import { hostForUrl, loopback } from "./security.ts";
import { type OwnCentre, serveCentre } from "./site-connections.ts";

export interface HttpServer {
  /** The URL for clients on this machine. */
  readonly url: string;
  readonly address: { readonly host: string; readonly port: number };
  /** A code that opens one session of the owner within 10 minutes; null if the service has no key. */
  loginCode(): string | null;
  /** Serves a connection of the centre that this service has connected to; its requests have this privilege. */
  serveCentre(connection: Duplex, centre: OwnCentre): void;
  /** Stops listening, gives pending requests 3 s, and then closes all connections. */
  close(): Promise<void>;
}

export interface HttpServerOptions {
  readonly service: MiningService;
  readonly settings: HttpSettings;
  readonly log: FastifyBaseLogger;
  /** The version of Rigbridge, for /health. */
  readonly version: string;
  /** Absent: this service has no MQTT bridge. */
  readonly mqtt?: () => MqttStatus | undefined;
  /** Absent: this service has no remote write. */
  readonly remoteWrite?: () => RemoteWriteStatus | undefined;
  /** Of a store that services of one site share; absent or null: this one has its store alone. */
  readonly lease?: ActingLease | null;
  /** Samples that wait for the store; null: they wait in memory. */
  readonly waiting?: () => StoreWaiting | null;
  readonly limits?: HttpLimits;
  /** Where browsers' sessions are stored; absent: they end with the process. */
  readonly sessions?: SessionLog;
  /** The folder of the built dashboard; by default the package's own. */
  readonly web?: string;
}

/** Serves the operations over HTTP. Throws `config.invalid` if it must not, or cannot, listen at its address. */
export async function startHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { settings, limits = httpLimits } = options;
  const host = settings.host === "localhost" ? "127.0.0.1" : settings.host;
  if (!loopback.has(host) && settings.key === undefined && !settings.open && settings.ingress === undefined)
    throw openDoor(settings.host);
  const codes = new LoginCodes({ ownKey: () => settings.key, now: Date.now });
  const app = await buildApp({ ...options, codes, limits });
  try {
    await app.listen({ host, port: settings.port });
  } catch (error) {
    await app.close();
    throw cannotListen(settings, error);
  }
  const bound = app.server.address();
  const address =
    typeof bound === "object" && bound !== null
      ? { host: bound.address, port: bound.port }
      : { host, port: settings.port };
  return {
    address,
    url: `http://${hostForUrl(address.host)}:${address.port}`,
    loginCode: () => codes.issue(),
    serveCentre: (connection, centre) => serveCentre(app.server, connection, centre),
    close: () => close(app, limits.closeTimeout),
  };
}

/** Throws `config.invalid` with the reason if a server could not listen there. */
export async function checkListening(settings: Pick<HttpSettings, "host" | "port">): Promise<void> {
  const server = createServer();
  try {
    server.listen({ host: settings.host, port: settings.port });
    await once(server, "listening");
  } catch (error) {
    throw cannotListen(settings, error);
  } finally {
    server.close();
  }
}

const openDoor = (host: string): RigbridgeError =>
  new RigbridgeError(
    "config.invalid",
    `http.host ${host} admits other machines without an API key. Set http.key to 16 characters or more, or http.open: true to admit every client`,
    { errors: [{ path: "http.key", message: `is required when http.host is ${host}` }] },
  );

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: "another program listens there",
  EACCES: "this user may not open the port",
  EADDRNOTAVAIL: "this machine has no such address",
  ENOTFOUND: "the host name is not known",
};

function cannotListen({ host, port }: Pick<HttpSettings, "host" | "port">, cause: unknown): RigbridgeError {
  const code = typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : "";
  const reason = reasons[code] ?? (code || "unknown reason");
  return new RigbridgeError(
    "config.invalid",
    `Cannot listen on ${host} port ${port}: ${reason}. Change http.host or http.port`,
    { cause },
  );
}

async function close(app: FastifyInstance, timeoutMs: number): Promise<void> {
  const closed = app.close();
  const done = new AbortController();
  const cut = wait(timeoutMs, undefined, { signal: done.signal }).then(
    () => endConnections(app.server),
    () => undefined,
  );
  await closed;
  done.abort();
  await cut;
}
