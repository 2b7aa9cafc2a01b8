import { type ProblemCode, RigbridgeError } from "../contract/problems.ts";
import type { MiningService } from "../contract/service.ts";

/** Refusals of this program by the service, as opposed to refusals of a browser's request. */
const ofGateway: ReadonlySet<ProblemCode> = new Set([
  "key.missing",
  "key.wrong",
  "session.ended",
  "address.forbidden",
  "host.unknown",
]);

/**
 * A remote service for the browsers of this program's server. If that service refuses this program's key, they receive
 * `service.refused`: `key.wrong` would end their own sessions.
 */
export const gateway = (service: MiningService): MiningService =>
  new Proxy(service, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return (...input: unknown[]) => {
        const result: unknown = Reflect.apply(method, target, input);
        if (result instanceof Promise)
          return result.catch((error: unknown) => {
            throw translated(error);
          });
        return isStream(result) ? translatedStream(result) : result;
      };
    },
  });

const isStream = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === "object" && value !== null && Symbol.asyncIterator in value;

async function* translatedStream(stream: AsyncIterable<unknown>): AsyncIterable<unknown> {
  try {
    yield* stream;
  } catch (error) {
    throw translated(error);
  }
}

function translated(error: unknown): unknown {
  if (!(error instanceof RigbridgeError) || !ofGateway.has(error.code)) return error;
  return new RigbridgeError("service.refused", `The service refuses the key of rigbridge web: ${error.message}`, {
    cause: error,
  });
}
