import type { OperationName } from "./operations.ts";
import { isRecord } from "./record.ts";

/**
 * The reply as it leaves the process: if the caller requested certain fields of a list of miners, each miner is reduced
 * to its `id` and these. Within the process the list stays complete, as its type says.
 */
export function withRequestedFields(name: OperationName, input: object, reply: unknown): unknown {
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
