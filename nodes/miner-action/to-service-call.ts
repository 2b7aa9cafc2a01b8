import type { Miner, MinerAction, MiningService, OperationName } from "rigbridge";
import { actionIntents, listedPools, type ServiceCall, settingIntents, toServiceCall } from "rigbridge/farm";
import type { Asked } from "../shared/farm-connection.ts";
import { Fault, fieldFault } from "../shared/faults.ts";
import { shortened } from "../shared/miner-choice.ts";
import { commandNamed, hindrance, isPoolCommand, poolActions } from "./commands.ts";

/** What is wanted of miners: a command by its name with a value, or an action of the service with all its parameters. */
export type Wish =
  | { readonly kind: "command"; readonly command: string; readonly value: unknown }
  | { readonly kind: "action"; readonly action: MinerAction; readonly parameters: Readonly<Record<string, unknown>> };

/** The wish of a message. Throws a Fault that names the field. */
export function wishFor(action: unknown, value: unknown): Wish {
  if (typeof action === "object" && action !== null && !Array.isArray(action)) {
    const [intent] = actionIntents(action);
    if (intent?.kind !== "action") throw fieldFault("action", "empty");
    const { action: name, ...parameters } = intent.action;
    return { kind: "action", action: name, parameters };
  }
  const command = typeof action === "string" ? action.trim() : "";
  if (command === "") throw fieldFault("action", "empty");
  const known = commandNamed(command);
  if (known === null) throw fieldFault("action", "unknown-command", { name: shortened(command) });
  const isMissing = value === undefined || value === null || value === "";
  if (known.takes !== "nothing" && isMissing) throw fieldFault("value", "no-value-for", { command });
  return { kind: "command", command, value };
}

/** Names that people gave to what the service knows by ids. */
export interface Names {
  pool(name: string): number | undefined;
  poolGroup(name: string): number | undefined;
  template(name: string): number | undefined;
  rule(name: string): number | undefined;
}

/** What the service is asked to do to this miner. Throws why this miner cannot be told it. */
export function doingOf(miner: Miner, wish: Wish, names: Names, features: ReadonlySet<OperationName>): ServiceCall {
  const command = wish.kind === "command" ? wish.command : wish.action;
  const found = commandNamed(command) === null ? null : hindrance(command, miner, features);
  if (found !== null) {
    const code =
      found.key === "unsupported"
        ? "service.unsupported"
        : found.key === "offline"
          ? "rig.unreachable"
          : "control.absent";
    throw new Fault(code, "cannot", { miner: miner.name, command, why: `=hindrance.${found.key}` });
  }
  if (wish.kind === "action") return actionDoing({ ...wish.parameters, action: wish.action }, miner);
  const { value } = wish;
  if (isPoolCommand(command)) return poolDoing(miner, command, String(value));
  switch (command) {
    case "change_pool":
    case "add_pool":
      return poolChange(miner, command, String(value), names);
    case "apply_template":
      return actionDoing({ action: command, template_id: idOf(value, names.template, "template") }, miner);
    case "rule":
      return actionDoing({ action: command, rule_id: idOf(value, names.rule, "rule") }, miner);
    case "set_target_temperature":
    case "set_room_temperature":
      return actionDoing({ action: command, temperature: value }, miner);
    case "set_surplus":
      return actionDoing({ action: command, surplus: value }, miner);
  }
  if (commandNamed(command)?.takes === "nothing") return actionDoing({ action: command }, miner);
  return one(settingIntents(command, value).map((intent) => toServiceCall(miner, intent, names.pool)));
}

const actionDoing = (action: object, miner: Miner): ServiceCall =>
  one(actionIntents(action).map((intent) => toServiceCall(miner, intent, () => undefined)));

function one(calls: readonly ServiceCall[]): ServiceCall {
  const [call] = calls;
  if (call === undefined) throw fieldFault("action", "empty");
  return call;
}

/** To a definition or a group of them, or, when it is to mine there, to a pool that it lists. */
function poolChange(miner: Miner, action: "change_pool" | "add_pool", name: string, names: Names): ServiceCall {
  const group = names.poolGroup(name);
  const single = names.pool(name);
  if (action === "change_pool" && group === undefined)
    return one(settingIntents("pool", name).map((intent) => toServiceCall(miner, intent, names.pool)));
  const id = single ?? group;
  if (id === undefined) throw fieldFault("value", "unknown-pool", { name: shortened(name) });
  return actionDoing({ action, pool_id: id, pool_type: single === undefined ? "group" : "single" }, miner);
}

function poolDoing(miner: Miner, command: keyof typeof poolActions, name: string): ServiceCall {
  const listed = listedPools(miner).find((each) => each.name === name || String(each.pool.id) === name);
  if (listed === undefined) throw fieldFault("value", "not-listed", { name: shortened(name), miner: miner.name });
  return { operation: "minerPoolAction", poolId: listed.pool.id, action: poolActions[command] };
}

function idOf(value: unknown, named: (name: string) => number | undefined, what: "template" | "rule"): number {
  const name = String(value);
  const id = named(name) ?? (/^\d{1,10}$/.test(name) ? Number(name) : undefined);
  if (id === undefined) throw fieldFault("value", `unknown-${what}`, { name: shortened(name) });
  return id;
}

/** Reads the names that this wish may need, and no others. */
export async function namesFor(wish: Wish, { service, caller }: Pick<Asked, "service" | "caller">): Promise<Names> {
  const takes = wish.kind === "command" ? commandNamed(wish.command)?.takes : "nothing";
  const [pools, groups] =
    takes === "pool"
      ? await Promise.all([definitions(service, caller), poolGroups(service, caller)])
      : [noNames, noNames];
  const templates =
    takes === "template" ? byName((await service.listManagedTemplates({}, caller)).managedTemplateList) : noNames;
  const rules = takes === "rule" ? byName((await service.listMiners({}, caller)).manualActionList) : noNames;
  return {
    pool: (name) => pools.get(name),
    poolGroup: (name) => groups.get(name),
    template: (name) => templates.get(name),
    rule: (name) => rules.get(name),
  };
}

type NameMap = ReadonlyMap<string, number>;

const noNames: NameMap = new Map();

/** Of two of one name the first has it. */
const byName = (list: readonly { readonly id: number; readonly name: string }[]): NameMap =>
  new Map(list.toReversed().map(({ id, name }) => [name, id]));

const definitions = async (service: MiningService, caller: Asked["caller"]): Promise<NameMap> =>
  byName((await service.listPools({}, caller)).list.map(({ id, description }) => ({ id, name: description })));

const poolGroups = async (service: MiningService, caller: Asked["caller"]): Promise<NameMap> =>
  byName((await service.listPoolGroups({}, caller)).map(({ id, name }) => ({ id: Number(id), name })));
