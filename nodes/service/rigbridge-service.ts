import { join } from "node:path";
import type { Node, NodeAPI, NodeDef } from "node-red";
import { readConfig } from "../shared/config.ts";
import { FarmConnection, type OpenedService, type Reach } from "../shared/farm-connection.ts";
import { Fault, spoken } from "../shared/faults.ts";
import { NodeStatus } from "../shared/node-status.ts";
import { offerConnection } from "../shared/services.ts";
import { wordsOf } from "../shared/words.ts";
import { serveEditor } from "./editor-endpoints.ts";
import { nodeLog } from "./node-log.ts";
import { openService } from "./open-service.ts";
import { readSecrets, serviceConfig } from "./settings.ts";

/** The configuration node: a service, and the one connection that all nodes share which use it. */
export default function register(RED: NodeAPI): void {
  RED.nodes.registerType(
    "rigbridge-service",
    function (this: Node<object>, raw: NodeDef) {
      RED.nodes.createNode(this, raw);
      offer(RED, this, raw);
    },
    {
      credentials: {
        key: { type: "password" },
        username: { type: "text" },
        password: { type: "password" },
        token: { type: "password" },
      },
    },
  );
  serveEditor(RED);
}

function offer(RED: NodeAPI, node: Node<object>, raw: NodeDef): void {
  const say = wordsOf(RED);
  const log = nodeLog(node);
  const open = async (reach: Reach): Promise<OpenedService> => {
    try {
      const settings = readConfig(serviceConfig, { ...raw });
      const secrets = readSecrets({ ...node.credentials });
      const file = settings.mode === "inside" ? storeFile(RED, node.id) : "";
      return await openService({ settings, secrets, file, log, reach });
    } catch (error) {
      throw spoken(error, say);
    }
  };
  const status = new NodeStatus({ show: (shown) => node.status(shown), say, now: Date.now });
  const connection = new FarmConnection({ open, log, turned: (phase) => status.phase(phase) });
  offerConnection(node, connection);
  node.on("close", (done: () => void) => void connection.close().finally(done));
}

/** In Node-RED's own folder, one for each service. */
export function storeFile(RED: NodeAPI, id: string): string {
  const { userDir } = RED.settings;
  if (userDir === undefined) throw new Fault("store.refused", "no-folder");
  return join(userDir, "rigbridge", `${id}.db`);
}
