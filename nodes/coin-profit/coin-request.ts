import { type ActionReply, isRecord, operations, RigbridgeError } from "rigbridge";
import { flatInput } from "rigbridge/farm";
import { z } from "zod";
import type { FarmConnection } from "../shared/farm-connection.ts";
import { Fault, fieldFault, unknownName } from "../shared/faults.ts";

const operationOf = { set: "saveCoin", add: "saveCoin", delete: "deleteCoin" } as const;

type CoinAction = keyof typeof operationOf;

/** What a message requests of the service, not validated yet. */
export interface CoinRequest {
  readonly operation: (typeof operationOf)[CoinAction];
  /** By the API's names: shortName, profit, name, algorithm, difficulty, reward, btc, usd. */
  readonly given: Readonly<Record<string, unknown>>;
}

/** The API parameters that each action uses from the node's fields. */
const taken = {
  set: ["shortName", "profit", "difficulty", "reward", "btc", "usd"],
  add: ["shortName", "name", "algorithm", "profit", "difficulty", "reward", "btc", "usd"],
  delete: ["shortName"],
} as const satisfies Record<CoinAction, readonly string[]>;

export type CoinParameter = (typeof taken)["add"][number];

/**
 * From an action's name and the node's fields, or from an object with all parameters, like
 * `{action: "set", shortName: "BTC", profit: 1.5e-12}`. Throws a Fault that names the field.
 */
export async function coinRequest(
  action: unknown,
  valueFor: (name: CoinParameter) => Promise<unknown>,
): Promise<CoinRequest> {
  if (isRecord(action)) {
    const { action: name, ...given } = action;
    return { operation: operationOf[actionNamed(name)], given: nonEmpty(Object.entries(given)) };
  }
  const name = actionNamed(action);
  const entries = await Promise.all(
    taken[name].map(async (parameter): Promise<[string, unknown]> => [parameter, await valueFor(parameter)]),
  );
  return { operation: operationOf[name], given: nonEmpty(entries) };
}

function actionNamed(given: unknown): CoinAction {
  const name = typeof given === "string" ? given.trim() : given;
  if (name === undefined || name === null || name === "") throw fieldFault("action", "empty");
  if (name === "set" || name === "add" || name === "delete") return name;
  const known = typeof name === "string" ? Object.keys(operationOf) : [];
  throw unknownName("input.invalid", "action", "command", String(name), known);
}

const nonEmpty = (entries: readonly [string, unknown][]): CoinRequest["given"] =>
  Object.fromEntries(entries.filter(([, value]) => value !== undefined && value !== null && value !== ""));

/** A request validated by the operation's schemas. */
export interface ValidCoinRequest {
  readonly operation: CoinRequest["operation"];
  readonly shortName: string;
  readonly input: object;
}

/** Throws `input.invalid` with every error, as the API words them. */
export function validated({ operation, given }: CoinRequest): ValidCoinRequest {
  const { user_id: userId, ...parameters } = given;
  if (userId !== undefined) throw new RigbridgeError("input.invalid", "user_id: is set in the service's settings");
  const { input } = flatInput(operations[operation], parameters);
  return { operation, input, shortName: z.object({ shortName: z.string() }).parse(input).shortName };
}

/** Rejects with a RigbridgeError that lists every error, or a Fault. */
export async function sendCoin(
  connection: FarmConnection,
  { operation, input }: ValidCoinRequest,
  signal: AbortSignal,
): Promise<ActionReply> {
  const { service, caller, farm } = connection.connected();
  if (signal.aborted) throw new Fault("service.not-ready", "closed");
  if (!farm.features.has(operation)) throw new Fault("service.unsupported", "unsupported");
  try {
    // The operation's own schemas made the input, which its type cannot express.
    return await Reflect.apply(service[operation], service, [input, caller]);
  } catch (error) {
    throw withDetails(error);
  }
}

/** A service may report only the number of errors in its message. */
function withDetails(error: unknown): unknown {
  if (!(error instanceof RigbridgeError) || error.errors.length < 2) return error;
  const message = error.errors.map(({ path, message }) => `${path}: ${message}`).join("; ");
  return new RigbridgeError(error.code, message, { errors: error.errors, cause: error });
}
