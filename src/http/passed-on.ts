import { createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { RigbridgeError } from "../contract/problems.ts";
import { problemDocument, problemType } from "./problem.ts";

/** On a request that a waiting service passes on to the active one: the client's address, after a proof of it. */
export const passedOnHeader = "x-rigbridge-passed-on";

type Request = Pick<IncomingMessage, "method" | "url">;

/** `secret`: known only to the services that share the store. */
export const passedOnText = (secret: string, address: string, request: Request): string =>
  `${proof(secret, address, request)} ${address}`;

const proof = (secret: string, address: string, { method, url }: Request): string =>
  createHmac("sha256", secret).update(`${address} ${method} ${url}`).digest("hex");

/**
 * Makes a request that was passed on one of its client: its connection, which carries no other client's, has the
 * client's address from now on. Throws `service.no.active` if the proof is wrong, as from a service that does not know
 * yet which one is active now.
 */
export function takePassedOn(request: IncomingMessage, secret: string): void {
  const text = request.headers[passedOnHeader];
  if (text === undefined) return;
  const [, given = "", address = ""] = /^([0-9a-f]{64}) (.*)$/.exec(String(text)) ?? [];
  const wanted = proof(secret, address, request);
  if (given === "" || !timingSafeEqual(Buffer.from(given), Buffer.from(wanted)))
    throw new RigbridgeError("service.no.active", "Another service of the site has become active; try again");
  nameClient(request.socket, address);
}

const nameClient = (socket: Socket, address: string): void => {
  if (socket.remoteAddress !== address)
    Object.defineProperty(socket, "remoteAddress", { value: address, configurable: true });
};

/** Answers a request without the app. */
export function refuse(response: ServerResponse, problem: RigbridgeError): void {
  response.writeHead(problem.status, {
    "content-type": problemType,
    "retry-after": "5",
    "cache-control": "no-store",
    // Whoever asks comes back, and then means the active service.
    connection: "close",
  });
  response.end(JSON.stringify(problemDocument(problem)));
}
