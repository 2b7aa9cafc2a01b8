import { type ActionReply, operations, RigbridgeError } from "rigbridge";
import { flatInput } from "rigbridge/farm";
import { z } from "zod";
import type { FarmConnection } from "../shared/farm-connection.ts";
import { Fault } from "../shared/faults.ts";
import type { CoinOperation, CoinWish } from "./coin-wish.ts";

/** A wish that the API's own checks have passed. */
export interface CheckedCoin {
  readonly operation: CoinOperation;
  readonly shortName: string;
  readonly input: object;
}

/** Throws `input.invalid` with all mistakes, as the API words them. */
export function checkedCoin({ operation, given }: CoinWish): CheckedCoin {
  const { user_id: userId, ...known } = given;
  // Whose eyes to look through is said with the service.
  if (userId !== undefined) throw new RigbridgeError("input.invalid", "user_id: is said with the service");
  const { input } = flatInput(operations[operation], known);
  return { operation, input, shortName: z.object({ shortName: z.string() }).parse(input).shortName };
}

/** Asks the service for it. Rejects with a RigbridgeError that names every mistake, or a Fault. */
export async function tellCoin(
  connection: FarmConnection,
  { operation, input }: CheckedCoin,
  signal: AbortSignal,
): Promise<ActionReply> {
  const { service, caller, farm } = connection.asked();
  if (signal.aborted) throw new Fault("service.not-ready", "closed");
  if (!farm.features.has(operation)) throw new Fault("service.unsupported", "unsupported");
  try {
    // The operation's own schemas have made the input, a tie that the types of a table cannot express.
    return await Reflect.apply(service[operation], service, [input, caller]);
  } catch (error) {
    throw named(error);
  }
}

/** Of several mistakes a service may only say how many they are. */
function named(error: unknown): unknown {
  if (!(error instanceof RigbridgeError) || error.errors.length < 2) return error;
  const message = error.errors.map(({ path, message }) => `${path}: ${message}`).join("; ");
  return new RigbridgeError(error.code, message, { errors: error.errors, cause: error });
}
