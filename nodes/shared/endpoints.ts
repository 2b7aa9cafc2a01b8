import type { NodeAPI } from "node-red";
import type { ConnectedService, FarmConnection } from "./farm-connection.ts";
import { Fault, toRigbridgeError, translator } from "./faults.ts";
import { messageFor } from "./service-texts.ts";
import { connectionAt } from "./services.ts";

/** A request of the editor. */
export interface EditorRequest {
  /** `:name` of the path. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/**
 * Serves JSON to the editor at `/rigbridge/...`, for users with the permission. An error is sent with its HTTP status as
 * `{code, message}`, in the language that the query gives where the service has the message by code.
 */
export function serve(
  RED: NodeAPI,
  method: "get" | "post",
  path: `/rigbridge/${string}`,
  permission: string,
  handle: (request: EditorRequest) => Promise<unknown>,
): void {
  RED.httpAdmin[method](path, RED.auth.needsPermission(permission), ({ params, query, body }, reply) => {
    handle({ params, query, body }).then(
      (answer) => reply.json(answer),
      (error: unknown) => {
        const fault = toRigbridgeError(error, translator(RED));
        reply.status(fault.status).json({ code: fault.code, message: messageFor(fault, query.language) });
      },
    );
  });
}

/** ms that the editor waits for a service that no node has used before. */
const timeoutMs = 5_000;

/** The service of a `rigbridge-service`, opened if necessary. Throws `not.found` if it is not deployed. */
export async function serviceAt(RED: NodeAPI, id: unknown): Promise<ConnectedService> {
  const connection = typeof id === "string" ? connectionAt(RED, id) : null;
  if (connection === null) throw new Fault("not.found", "not-deployed");
  await settled(connection);
  return connection.connected();
}

/** Resolves when the service is connected or lost, or after the timeout. */
function settled(connection: FarmConnection): Promise<void> {
  return new Promise((resolve) => {
    let leave = (): void => undefined;
    const end = (): void => {
      clearTimeout(timer);
      queueMicrotask(() => leave());
      resolve();
    };
    const timer = setTimeout(end, timeoutMs);
    leave = connection.join({
      phase: ({ kind }) => {
        if (kind === "connected" || kind === "lost") end();
      },
    });
  });
}
