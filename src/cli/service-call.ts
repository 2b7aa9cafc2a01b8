import { z } from "zod";
import { invalid, RigbridgeError } from "../contract/problems.ts";

/** One request to a service; the reply as the schema says. */
export type Call = <S extends z.ZodType>(method: "GET" | "POST", path: string, reply: S) => Promise<z.output<S>>;

/** The parts of a problem document (RFC 9457) that are for people. */
const Problem = z.object({
  title: z.string().optional(),
  detail: z.string().optional(),
  errors: z.array(z.object({ path: z.string(), message: z.string() })).default([]),
});

/**
 * A way to the service at a URL. Throws `input.invalid` when that is none; the calls throw `rig.refused` in the
 * service's words, and `service.not-ready` when none answers there.
 */
export function connectTo(url: string, key: string | undefined, signal: AbortSignal): Call {
  const base = baseOf(url);
  const headers = { accept: "application/json", ...(key === undefined ? {} : { "x-api-key": key }) };
  return async (method, path, schema) => {
    const answer = await fetch(new URL(path, base), { method, headers, signal, redirect: "error" }).catch(
      (error: unknown) => {
        throw noAnswer(base, signal, error);
      },
    );
    const body = await answer.json().catch(() => undefined);
    if (!answer.ok) throw refusal(answer.status, body);
    const reply = schema.safeParse(body);
    if (reply.success) return reply.data;
    throw new RigbridgeError("service.not-ready", `What answers at ${base.origin} is no Rigbridge`);
  };
}

function baseOf(url: string): URL {
  const base = URL.canParse(url) ? new URL(url.endsWith("/") ? url : `${url}/`) : undefined;
  if (base !== undefined && /^https?:$/.test(base.protocol) && base.username === "") return base;
  throw invalid("--service", "must be a URL like http://127.0.0.1:17790");
}

function noAnswer(base: URL, signal: AbortSignal, cause: unknown): RigbridgeError {
  const why = signal.aborted
    ? `The service at ${base.origin} did not answer in time`
    : `No service answers at ${base.origin}; start one with npm start, or say where it is with --service`;
  return new RigbridgeError("service.not-ready", why, { cause });
}

function refusal(status: number, body: unknown): RigbridgeError {
  const { title, detail, errors } = Problem.safeParse(body).data ?? { errors: [] };
  const words = detail ?? title ?? `The service answers with HTTP ${status}`;
  const hint = status === 401 ? " (give the key in RIGBRIDGE_KEY)" : "";
  return new RigbridgeError("rig.refused", `${words}${hint}`, { errors });
}
