import type { Node, NodeAPI } from "node-red";
import type { Caller } from "rigbridge";
import type { FarmConnection } from "./farm-connection.ts";
import { fieldFault } from "./faults.ts";

/** The caller in a service's audit log. */
export const caller: Caller = { actor: "node-red" };

/** The connection of each deployed `rigbridge-service`. */
const connections = new WeakMap<object, FarmConnection>();

export const registerConnection = (node: Node, connection: FarmConnection): void => {
  connections.set(node, connection);
};

/** By the id of a `rigbridge-service`; null if none with that id is deployed. */
export function connectionAt(RED: NodeAPI, id: string): FarmConnection | null {
  const node: unknown = RED.nodes.getNode(id);
  return typeof node === "object" && node !== null ? (connections.get(node) ?? null) : null;
}

/** For a node that needs a service. Throws a Fault that names the field. */
export function connectionFor(RED: NodeAPI, id: string): FarmConnection {
  const connection = connectionAt(RED, id);
  if (connection === null) throw fieldFault("service", "no-service");
  return connection;
}
