import type { OperationName } from "./operations.ts";
import { isRecord } from "./record.ts";

/**
 * The reply as it leaves the process: if the caller requested certain fields of a list of miners, each miner is reduced
 * to its `id` and these. Within the process the list stays complete, as its type says.
 */
export function withRequestedFields(name: OperationName, input: object, reply: unknown): unknown {
  if (!("fields" in input) || !Array.isArray(input.fields)) return reply;
  const fields = new Set(["id", ...input.fields.map(String)]);
  if (name === "listMiners") return withFields(reply, fields);
  if (name !== "listMinerRows" || !isRecord(reply) || !Array.isArray(reply.miners)) return reply;
  return { ...reply, miners: cut(reply.miners, fields) };
}

function withFields(holder: unknown, fields: ReadonlySet<string>): unknown {
  if (!isRecord(holder)) return holder;
  const { groupList, minerList } = holder;
  return {
    ...holder,
    ...(Array.isArray(minerList) ? { minerList: cut(minerList, fields) } : {}),
    ...(Array.isArray(groupList) ? { groupList: groupList.map((group) => withFields(group, fields)) } : {}),
  };
}

const cut = (miners: unknown, fields: ReadonlySet<string>): object[] =>
  listIn(miners).map((miner) => Object.fromEntries(Object.entries(miner).filter(([name]) => fields.has(name))));

const listIn = (value: unknown): object[] => (Array.isArray(value) ? value.filter(isRecord) : []);
