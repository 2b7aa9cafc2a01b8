import type { z } from "zod";
import { type Operation, type OperationName, operations } from "../contract/operations.ts";
import { isRecord } from "../contract/record.ts";
import { Miner, MinerList } from "../contract/resources.ts";
import { wording } from "../contract/wording.ts";
import { type ErrorContext, garbled } from "./answers.ts";
import { Fields } from "./fields.ts";
import { strict } from "./omissions.ts";
import { readGroups } from "./read-groups.ts";
import { oneLine } from "./secrets.ts";

/**
 * Checks a reply of a Rigbridge. Replies go through their schema, which drops fields that a newer version adds. The list of
 * miners is spot-checked, since its schema would take as long as parsing its JSON: its groups, the objects and lists of
 * each miner, and the first miner of each group in full. Throws `service.garbled` with the path.
 */
export function checkedReply(name: OperationName, json: unknown, context: ErrorContext): unknown {
  const operation: Operation = operations[name];
  if (name === "listMiners") return spotChecked(json, context);
  return parsed(operation.reply, json, context);
}

function parsed<S extends z.ZodType>(
  schema: S,
  json: unknown,
  { wire, request }: ErrorContext,
  root = "",
): z.output<S> {
  const { data, error } = schema.safeParse(json, { error: wording });
  if (error === undefined) return data;
  const [issue] = error.issues;
  const path = [root, ...(issue?.path ?? [])].filter((part) => part !== "").join(".");
  const where = path === "" ? "the reply" : oneLine(path, 120);
  const what = wire.scrub(oneLine(issue?.message ?? ""));
  throw garbled(`${wire.origin} answers ${request} with a reply that is not as documented: ${where}: ${what}`);
}

const Head = MinerList.omit({ groupList: true });

function spotChecked(json: unknown, context: ErrorContext): MinerList {
  const head = parsed(Head, json, context);
  const groupList = readGroups(new Fields(json, "the reply"), strict, (group) =>
    group.list("minerList").map((miner, index) => {
      if (index > 0 && isMiner(miner)) return miner;
      return parsed(Miner, miner, context, group.path(`minerList[${index}]`));
    }),
  );
  return { ...head, groupList };
}

type Kind = "number" | "string" | "boolean" | "list" | "object" | "uid";

const kinds = new Map<string, Kind>(
  Object.entries({
    id: "number",
    uid: "uid",
    name: "string",
    hostname: "string",
    groupId: "number",
    statusInfo: "object",
    progressInfo: "object",
    speedInfo: "object",
    coinInfo: "object",
    money: "object",
    location: "object",
    readings: "object",
    poolList: "list",
    gpuList: "list",
    pgaList: "list",
    asicList: "list",
    cpuList: "list",
    tags: "list",
    controls: "list",
  }),
);
const readingKinds = new Map<string, Kind>(
  Object.entries({ boards: "list", fans: "list", errors: "list", notes: "list", shares: "object", stale: "boolean" }),
);

/** Checks the objects and lists that are accessed; plain values are accepted as they are. */
const isMiner = (value: unknown): value is Miner =>
  isRecord(value) && hasKinds(value, kinds) && isRecord(value.readings) && hasKinds(value.readings, readingKinds);

function hasKinds(value: Readonly<Record<string, unknown>>, wanted: ReadonlyMap<string, Kind>): boolean {
  for (const [key, kind] of wanted) if (!isOf(kind, value[key])) return false;
  return true;
}

function isOf(kind: Kind, value: unknown): boolean {
  if (kind === "list") return Array.isArray(value);
  if (kind === "object") return isRecord(value);
  if (kind === "uid") return value === null || typeof value === "string";
  return typeof value === kind;
}
