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

/** The connections of this service's own centre, by what the centre may do here. */
const ofCentre = new WeakMap<object, Privilege>();

/** Serves a connection of the centre that this service has connected to, as one of the server's own. */
export function serveCentre(server: Server, connection: Duplex, privilege: Privilege): void {
  ofCentre.set(connection, privilege);
  server.emit("connection", connection);
}

/** What the centre may do, if a request comes from it; else undefined. */
export const privilegeOfCentre = (connection: object): Privilege | undefined => ofCentre.get(connection);
