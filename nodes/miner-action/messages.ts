import { type Miner, type ProblemCode, RigbridgeError } from "rigbridge";
import type { ServiceCall } from "rigbridge/farm";
import type { ConnectedService } from "../shared/farm-connection.ts";
import { topicOf } from "../shared/miner-state.ts";

/** The result of a command for one miner. */
export type Outcome =
  | { readonly miner: Miner; readonly reply: Reply }
  | { readonly miner: Miner; readonly error: RigbridgeError };

/** The rig's reply, as `msg.payload`. */
export interface Reply {
  readonly success: true;
  /** The rig's message; for a dry run, the command. */
  readonly message: string;
  /** `sent` or `queued` while the rig has not answered; `possible` after a dry run. */
  readonly state: "queued" | "sent" | "done" | "possible";
  /** With `sent`: the rig has accepted a restart but has not restarted yet. */
  readonly taken?: true;
}

/** One miner in the report on several. */
export interface ResultRow {
  readonly topic: string;
  readonly name: string;
  readonly success: boolean;
  readonly message: string;
  readonly state: Reply["state"] | "failed";
  readonly code?: ProblemCode;
}

/** A dry run, checked by the service if it can. Rejects with the reason why the call would be refused. */
export async function rehearse(
  { service, caller, farm }: ConnectedService,
  miner: Miner,
  call: ServiceCall,
): Promise<Reply> {
  const reply = { success: true, state: "possible", message: describe(call) } as const;
  if (call.operation !== "minerAction" || !farm.features.has("startBulkAction")) return reply;
  const { action, ...parameters } = call.action;
  const given = Object.fromEntries(
    Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const others = { parallel: 1, delay: 0, dryRun: true, all: undefined, groups: undefined };
  const { id } = await service.startBulkAction({ action, parameters: given, miners: [miner.id], ...others }, caller);
  const { results } = await service.getBulkAction({ id }, caller);
  const [result] = results;
  if (result?.state === "failed") throw new RigbridgeError("not.possible", result.message);
  return { ...reply, message: result?.message || reply.message };
}

/** Like `reboot`, or `set property=power_limit value=900`. */
function describe(call: ServiceCall): string {
  if (call.operation === null) return call.message;
  if (call.operation === "minerPoolAction") return `${call.action} pool ${call.poolId}`;
  const { action, ...parameters } = call.action;
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return [action, ...given.map(([name, value]) => `${name}=${value}`)].join(" ");
}

export function toRow(outcome: Outcome): ResultRow {
  const { miner } = outcome;
  const which = { topic: topicOf(miner), name: miner.name };
  if ("reply" in outcome) return { ...which, ...outcome.reply };
  const { code, message } = outcome.error;
  return { ...which, success: false, message, state: "failed", code };
}
