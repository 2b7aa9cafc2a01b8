import type { Node, NodeAPI, NodeDef } from "node-red";
import { logTo } from "rigbridge/farm";
import { z } from "zod";
import { readConfig } from "../shared/config.ts";
import { serve, serviceAt } from "../shared/endpoints.ts";
import { FarmConnection, type OpenedService } from "../shared/farm-connection.ts";
import { Fault, toRigbridgeError, translator } from "../shared/faults.ts";
import { NodeStatus } from "../shared/node-status.ts";
import { registerConnection } from "../shared/services.ts";
import { fileOf } from "../shared/user-folder.ts";
import { editorLists, isListName } from "./editor-lists.ts";
import { openService } from "./open-service.ts";
import { credentialTypes, readSecrets, type Secrets, serviceConfig } from "./settings.ts";
import { testService } from "./test-service.ts";

/** The configuration node: a service, and the connection that all nodes using it share. */
export default function register(RED: NodeAPI): void {
  RED.nodes.registerType(
    "rigbridge-service",
    function (this: Node<object>, raw: NodeDef) {
      RED.nodes.createNode(this, raw);
      start(RED, this, raw);
    },
    { credentials: credentialTypes },
  );
  serveEditor(RED);
}

function start(RED: NodeAPI, node: Node<object>, raw: NodeDef): void {
  const translate = translator(RED);
  const warn = (text: string): void => node.warn(text);
  // Errors of the service are warnings here, since no message of a flow caused them.
  const log = logTo({ info: (text) => node.log(text), warn, error: warn });
  const open = async (): Promise<OpenedService> => {
    try {
      const settings = readConfig(serviceConfig, { ...raw });
      const secrets = readSecrets({ ...node.credentials });
      const file = settings.mode === "inside" ? fileOf(RED, `${node.id}.db`) : "";
      return await openService({ settings, secrets, file, log });
    } catch (error) {
      throw toRigbridgeError(error, translate);
    }
  };
  const status = new NodeStatus({ show: (shown) => node.status(shown), translate, now: Date.now });
  const connection = new FarmConnection({ open, log, onPhase: (phase) => status.phase(phase) });
  registerConnection(node, connection);
  node.on("close", (done: () => void) => void connection.close().finally(done));
}

/** What the editor shows for a stored secret, and sends back if the user typed no other. */
const unchangedSecret = "__PWRD__";

const TestRequest = z.object({
  id: z.string(),
  config: z.record(z.string(), z.unknown()),
  secrets: z.record(z.string(), z.string()),
});

/** For the editor: the services on the network, a test of the settings, and the lists of a service. */
function serveEditor(RED: NodeAPI): void {
  serve(RED, "get", "/rigbridge/found", "rigbridge-service.read", async () => {
    const { findServices } = await import("rigbridge/discovery");
    return findServices({ signal: AbortSignal.timeout(10_000), timeoutMs: 2_000 });
  });
  serve(RED, "post", "/rigbridge/test", "rigbridge-service.write", async ({ body, query }) => {
    const { data } = TestRequest.safeParse(body);
    if (data === undefined) throw new Fault("input.invalid", "internal", { why: "POST {id, config, secrets}" });
    const settings = readConfig(serviceConfig, data.config);
    return testService(settings, secretsOf(RED, data.id, data.secrets), translator(RED), query.language);
  });
  serve(RED, "get", "/rigbridge/services/:id/:list", "rigbridge-service.read", async ({ params: { id, list } }) => {
    if (typeof list !== "string" || !isListName(list)) throw new Fault("not.found", "no-list");
    return editorLists[list](await serviceAt(RED, id));
  });
}

/** As typed; the stored ones where the user typed nothing. */
function secretsOf(RED: NodeAPI, id: string, typed: Readonly<Record<string, string>>): Secrets {
  const stored: unknown = RED.nodes.getCredentials(id);
  const given = Object.fromEntries(Object.entries(typed).filter(([, value]) => value !== unchangedSecret));
  return readSecrets({ ...z.record(z.string(), z.unknown()).safeParse(stored).data, ...given });
}
