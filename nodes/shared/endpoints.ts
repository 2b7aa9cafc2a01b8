import type { NodeAPI } from "node-red";
import type { Asked, FarmConnection } from "./farm-connection.ts";
import { Fault, spoken } from "./faults.ts";
import { connectionAt } from "./services.ts";
import { wordsOf } from "./words.ts";

/** What the editor asks. */
export interface Asking {
  /** `:name` of the path. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/**
 * Answers the editor at `/rigbridge/...` with JSON, where who asks has the permission; what is thrown is answered with
 * its status as `{code, message}`.
 */
export function serve(
  RED: NodeAPI,
  method: "get" | "post",
  path: `/rigbridge/${string}`,
  permission: string,
  work: (asking: Asking) => Promise<unknown>,
): void {
  const say = wordsOf(RED);
  RED.httpAdmin[method](path, RED.auth.needsPermission(permission), ({ params, query, body }, reply) => {
    work({ params, query, body }).then(
      (answer) => reply.json(answer),
      (error: unknown) => {
        const { status, code, message } = spoken(error, say);
        reply.status(status).json({ code, message });
      },
    );
  });
}

/** ms that the editor waits for a service that nobody has used before. */
const patience = 5_000;

/** The service of a `rigbridge-service`, opened if need be. Throws `not.found` for what is not deployed. */
export async function askedAt(RED: NodeAPI, id: unknown): Promise<Asked> {
  const connection = typeof id === "string" ? connectionAt(RED, id) : null;
  if (connection === null) throw new Fault("not.found", "not-deployed");
  await settled(connection);
  return connection.asked();
}

/** Resolves when the service answers, or it is known that it does not; and after a while anyhow. */
function settled(connection: FarmConnection): Promise<void> {
  return new Promise((resolve) => {
    let leave = (): void => undefined;
    const end = (): void => {
      clearTimeout(timer);
      queueMicrotask(() => leave());
      resolve();
    };
    const timer = setTimeout(end, patience);
    leave = connection.join({
      phase: ({ kind }) => {
        if (kind === "connected" || kind === "lost") end();
      },
    });
  });
}
