import { type Miner, type ProblemCode, RigbridgeError } from "rigbridge";
import { execute, type ServiceCall } from "rigbridge/farm";
import type { Asked } from "../shared/farm-connection.ts";

/** What came of a command for one miner. */
export type Outcome =
  | { readonly miner: Miner; readonly answer: Answer }
  | { readonly miner: Miner; readonly error: RigbridgeError };

/** The rig's answer, as `msg.payload`. */
export interface Answer {
  readonly success: true;
  /** The rig's words; of a dry run, what it would be told. */
  readonly message: string;
  /** `sent` or `queued` where the rig has not answered yet; `possible`: nothing was done, it was a dry run. */
  readonly state: "queued" | "sent" | "done" | "possible";
  /** With `sent`: the rig has taken a restart, and has not shown it yet. */
  readonly taken?: true;
}

/** One miner's line of a report on several. */
export interface Line {
  readonly topic: string;
  readonly name: string;
  readonly success: boolean;
  readonly message: string;
  readonly state: Answer["state"] | "failed";
  readonly code?: ProblemCode;
}

/** Tells a miner. Rejects with the RigbridgeError of who refuses. */
export async function told({ service, caller }: Asked, miner: Miner, call: ServiceCall): Promise<Answer> {
  return { success: true, ...(await execute(service, caller, miner.id, [call])) };
}

/** What telling a miner would come to; the service judges it where it can. Rejects with why it would be refused. */
export async function rehearsed(asked: Asked, miner: Miner, call: ServiceCall): Promise<Answer> {
  const { service, caller, farm } = asked;
  const answer = { success: true, state: "possible", message: wordsOf(call) } as const;
  if (call.operation !== "minerAction" || !farm.features.has("startBulkAction")) return answer;
  const { action, ...parameters } = call.action;
  const given = Object.fromEntries(
    Object.entries(parameters).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const { id } = await service.startBulkAction(
    {
      action,
      parameters: given,
      miners: [miner.id],
      parallel: 1,
      delay: 0,
      dryRun: true,
      all: undefined,
      groups: undefined,
    },
    caller,
  );
  const { results } = await service.getBulkAction({ id }, caller);
  const [judged] = results;
  if (judged?.state === "failed") throw new RigbridgeError("not.possible", judged.message);
  return { ...answer, message: judged?.message || answer.message };
}

/** Like `reboot`, or `set property=power_limit value=900`. */
function wordsOf(call: ServiceCall): string {
  if (call.operation === null) return call.message;
  if (call.operation === "minerPoolAction") return `${call.action} pool ${call.poolId}`;
  const { action, ...parameters } = call.action;
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  return [action, ...given.map(([name, value]) => `${name}=${value}`)].join(" ");
}

export const topicOf = ({ uid, id }: Miner): string => uid ?? String(id);

export function lineOf(outcome: Outcome): Line {
  const { miner } = outcome;
  const who = { topic: topicOf(miner), name: miner.name };
  if ("answer" in outcome) return { ...who, ...outcome.answer };
  const { code, message } = outcome.error;
  return { ...who, success: false, message, state: "failed", code };
}
