import type { Node, NodeAPI } from "node-red";
import type { FarmConnection } from "./farm-connection.ts";
import { fieldFault } from "./faults.ts";

/** The connection of each `rigbridge-service` that is deployed. */
const connections = new WeakMap<object, FarmConnection>();

export const offerConnection = (node: Node, connection: FarmConnection): void => {
  connections.set(node, connection);
};

/** By the id of a `rigbridge-service`; null where none of that id is deployed. */
export function connectionAt(RED: NodeAPI, id: string): FarmConnection | null {
  const node: unknown = RED.nodes.getNode(id);
  return typeof node === "object" && node !== null ? (connections.get(node) ?? null) : null;
}

/** For a node that needs one. Throws a Fault that names the field. */
export function connectionFor(RED: NodeAPI, id: string): FarmConnection {
  const connection = connectionAt(RED, id);
  if (connection === null) throw fieldFault("service", "no-service");
  return connection;
}
