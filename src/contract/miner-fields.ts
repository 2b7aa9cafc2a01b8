import type { OperationName } from "./operations.ts";
import { isRecord } from "./record.ts";

/**
 * The reply as it leaves the process: a list of miners of which only some fields were asked for is cut down to each
 * miner's `id` and these. Inside, the list stays whole, as its type says.
 */
export function withFieldsAskedFor(name: OperationName, input: object, reply: unknown): unknown {
  if (name !== "listMiners" || !("fields" in input) || !Array.isArray(input.fields)) return reply;
  return withFields(reply, new Set(["id", ...input.fields.map(String)]));
}

function withFields(holder: unknown, fields: ReadonlySet<string>): unknown {
  if (!isRecord(holder)) return holder;
  const { groupList, minerList } = holder;
  const isWanted = ([name]: [string, unknown]) => fields.has(name);
  const miners = listIn(minerList).map((miner) => Object.fromEntries(Object.entries(miner).filter(isWanted)));
  return {
    ...holder,
    ...(Array.isArray(minerList) ? { minerList: miners } : {}),
    ...(Array.isArray(groupList) ? { groupList: groupList.map((group) => withFields(group, fields)) } : {}),
  };
}

const listIn = (value: unknown): object[] => (Array.isArray(value) ? value.filter(isRecord) : []);
