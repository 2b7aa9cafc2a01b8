import type { Server } from "node:http";
import type { Duplex } from "node:stream";
import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import type { Privilege } from "../contract/resources.ts";
import type { MiningService } from "../contract/service.ts";
import { FromSite, sitePath } from "../contract/site-connection.ts";
import { addInwardRoute } from "./inward-sockets.ts";

/**
 * A site with 40,000 rigs that are read every 10 s sends 4,000 events a second, in fewer messages. Their bytes are bounded by
 * the windows of their channels.
 */
const limits = { writeBurst: 50_000, writesPerSecond: 10_000, bytesPerMessage: 65_536 };

interface Options {
  readonly service: Pick<MiningService, "takeSite">;
  readonly log: FastifyBaseLogger;
}

/** The WebSocket of sites that connect to this service by themselves. */
export function addSiteRoute(app: FastifyInstance, { service, log }: Options): void {
  addInwardRoute(app, {
    headers: [],
    path: sitePath,
    whose: "a site",
    limits,
    message: FromSite,
    tokenOf: ({ admitted }) => admitted.site,
    take: (token, connection) => service.takeSite?.(token, connection),
    tooMuch: (limit) => log.warn(`A site sends too much: ${limit}; its connection is ended`),
    failed: (reason) => log.info({ reason }, "a site's connection failed"),
  });
}

/** The centre that this service has connected to. */
export interface OwnCentre {
  /** Its address, such as head-office.example:17790. */
  readonly name: string;
  /** What it may do here. */
  readonly privilege: Privilege;
}

/** The connections of this service's own centre. */
const ofCentre = new WeakMap<object, OwnCentre>();

/** Serves a connection of the centre that this service has connected to, as one of the server's own. */
export function serveCentre(server: Server, connection: Duplex, centre: OwnCentre): void {
  ofCentre.set(connection, centre);
  server.emit("connection", connection);
}

/** The centre, if a request comes from it; else undefined. */
export const centreBehind = (connection: object): OwnCentre | undefined => ofCentre.get(connection);
