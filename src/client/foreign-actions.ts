import { invalid, type RigbridgeError } from "../contract/problems.ts";
import type { Host, ManagedMiner, Pool } from "../contract/resources.ts";
import type { CallName, Input, Reply } from "../contract/service.ts";
import { garbled } from "./answers.ts";
import { type DocumentedName, type ReadName, readDone } from "./foreign-replies.ts";

type WriteName = Exclude<DocumentedName, ReadName>;

/** The requests that actions on a foreign server consist of, all with the same access. */
export interface ForeignCalls {
  pool(id: number): Promise<Pool>;
  pools(): Promise<readonly Pool[]>;
  host(id: number): Promise<Host>;
  hosts(): Promise<readonly Host[]>;
  managedMiner(id: number): Promise<ManagedMiner>;
  managedMiners(): Promise<readonly ManagedMiner[]>;
  /** Sends an operation and returns the JSON of its answer, undefined if that is not JSON. */
  send(name: WriteName, input: object): Promise<unknown>;
  /** The error for something that this server does not support. */
  unsupported(what: string): Promise<RigbridgeError>;
}

export type Writers = { readonly [K in WriteName]: (input: Input<K>, calls: ForeignCalls) => Promise<Reply<K>> };

/** The documented operations that write, for a server whose replies to them are not documented. */
export const writers: Writers = {
  minerAction: async (input, calls) => {
    const action = actionFor(input);
    if (action === undefined) throw await calls.unsupported(wordsFor(input));
    const { id, pool_id, pool_type, template_id, rule_id } = input;
    const json = await calls.send("minerAction", { id, action, pool_id, pool_type, template_id, rule_id });
    return readDone(json, `The service has accepted ${action}`);
  },
  minerPoolAction: done("minerPoolAction"),
  deletePool: done("deletePool"),
  allNotificationsAction: done("allNotificationsAction"),
  notificationAction: done("notificationAction"),
  saveCoin: done("saveCoin"),
  deleteCoin: done("deleteCoin"),
  savePool: (input, calls) => save("savePool", input, calls, { one: calls.pool, all: calls.pools }),
  saveHost: (input, calls) => save("saveHost", input, calls, { one: calls.host, all: calls.hosts }),
  saveManagedMiner: async ({ dryRun = false, ...input }, calls) => {
    // It would not know the parameter, and save.
    if (dryRun) throw await calls.unsupported("to check a managed miner without saving it");
    return save("saveManagedMiner", input, calls, { one: calls.managedMiner, all: calls.managedMiners });
  },
};

/** A writer without further steps. */
function done(name: Exclude<WriteName, "minerAction" | "savePool" | "saveHost" | "saveManagedMiner">) {
  return async (input: object, calls: ForeignCalls) =>
    readDone(await calls.send(name, input), "The service has accepted it");
}

const documented = ["reboot", "stop", "restart", "start", "add_pool", "change_pool", "apply_template", "rule"];

/** The documented action for an input; `set` of a foreign miner's controls maps to one as well. */
function actionFor({ action, property, value = "" }: Input<"minerAction">): string | undefined {
  if (documented.includes(action)) return action;
  if (action !== "set") return undefined;
  if (property === "reboot" || property === "restart") return property;
  if (property !== "mining") return undefined;
  if (/^(true|on|1)$/i.test(value)) return "start";
  if (/^(false|off|0)$/i.test(value)) return "stop";
  throw invalid("value", '"mining" takes true or false');
}

const wordsFor = ({ action, property }: Input<"minerAction">): string =>
  action === "set" ? `to set "${property}"` : `the action ${action}`;

/** Reads saved resources back. */
interface Shelf<T> {
  readonly one: (id: number) => Promise<T>;
  readonly all: () => Promise<readonly T[]>;
}

/**
 * Adds or updates. An update sends the stored values of absent fields, since the API document does not say what happens to
 * those, and the result is read back, since the reply is not documented.
 */
async function save<T extends { readonly id: number }>(
  name: "savePool" | "saveHost" | "saveManagedMiner",
  input: { readonly id: number },
  calls: ForeignCalls,
  shelf: Shelf<T>,
): Promise<T> {
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
  if (input.id > 0) {
    await calls.send(name, { ...(await shelf.one(input.id)), ...given });
    return shelf.one(input.id);
  }
  const before = new Set((await shelf.all()).map(({ id }) => id));
  const id = idIn(await calls.send(name, given));
  if (id !== undefined) return shelf.one(id);
  const added = (await shelf.all()).filter((each) => !before.has(each.id)).toSorted((a, b) => b.id - a.id);
  const [newest] = added.filter((each) => agrees(each, given));
  if (newest !== undefined) return newest;
  throw garbled("The service reports that it has stored this, but does not list it");
}

function idIn(json: unknown): number | undefined {
  const id = typeof json === "object" && json !== null && "id" in json ? json.id : json;
  return typeof id === "number" && Number.isSafeInteger(id) && id > 0 ? id : undefined;
}

const identifying = ["description", "url", "hostname"];

const agrees = (stored: object, given: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(stored).every(([key, value]) => !identifying.includes(key) || (given[key] ?? value) === value);

/** Whether a documented operation writes. */
export const isWrite = (name: CallName): name is WriteName => Object.hasOwn(writers, name);
