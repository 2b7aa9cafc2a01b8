import { isNumberText, type Miner, type MinerAction, type OperationName } from "rigbridge";
import { actionIntents, listedPools, type ServiceCall, settingIntents, toServiceCall } from "rigbridge/farm";
import type { ConnectedService } from "../shared/farm-connection.ts";
import { Fault, fieldFault, shortened, unknownName } from "../shared/faults.ts";
import {
  commandNamed,
  commandNames,
  hindrance,
  hindranceCodes,
  isPoolCommand,
  type PoolCommand,
  poolActions,
} from "./commands.ts";

/** A command by its name with a value, or an action of the service with all its parameters. */
export type CommandRequest =
  | { readonly kind: "command"; readonly command: string; readonly value: unknown }
  | { readonly kind: "action"; readonly action: MinerAction; readonly parameters: Readonly<Record<string, unknown>> };

/** From the evaluated fields. Throws a Fault that names the field. */
export function toRequest(action: unknown, value: unknown): CommandRequest {
  if (typeof action === "object" && action !== null && !Array.isArray(action)) {
    const [intent] = actionIntents(action);
    if (intent?.kind !== "action") throw fieldFault("action", "empty");
    const { action: name, ...parameters } = intent.action;
    return { kind: "action", action: name, parameters };
  }
  const command = typeof action === "string" ? action.trim() : "";
  if (command === "") throw fieldFault("action", "empty");
  const found = commandNamed(command);
  if (found === null) throw unknownName("input.invalid", "action", "command", command, commandNames);
  const isMissing = value === undefined || value === null || value === "";
  if (found.takes !== "nothing" && isMissing) throw fieldFault("value", "no-value-for", { command });
  return { kind: "command", command, value };
}

/** The ids of what users name. */
export interface Names {
  readonly pools: ReadonlyMap<string, number>;
  readonly poolGroups: ReadonlyMap<string, number>;
  readonly templates: ReadonlyMap<string, number>;
  readonly rules: ReadonlyMap<string, number>;
}

/** The call for this miner. Throws why this miner cannot execute it. */
export function callFor(
  miner: Miner,
  request: CommandRequest,
  names: Names,
  features: ReadonlySet<OperationName>,
): ServiceCall {
  const command = request.kind === "command" ? request.command : request.action;
  const found = commandNamed(command) === null ? null : hindrance(command, miner, features);
  if (found !== null) {
    const why = `=hindrance.${found.key}`;
    throw new Fault(hindranceCodes[found.key], "cannot", { miner: miner.name, command, why });
  }
  if (request.kind === "action") return actionCall({ ...request.parameters, action: request.action }, miner);
  const { value } = request;
  if (isPoolCommand(command)) return listedPoolCall(miner, command, String(value));
  switch (command) {
    case "change_pool":
    case "add_pool":
      return poolCall(miner, command, String(value), names);
    case "apply_template":
      return actionCall({ action: command, template_id: idOf(value, names.templates, "template") }, miner);
    case "rule":
      return actionCall({ action: command, rule_id: idOf(value, names.rules, "rule") }, miner);
    case "set_target_temperature":
    case "set_room_temperature":
      return actionCall({ action: command, temperature: value }, miner);
    case "set_surplus":
      return actionCall({ action: command, surplus: value }, miner);
  }
  if (commandNamed(command)?.takes === "nothing") return actionCall({ action: command }, miner);
  return first(
    settingIntents(command, value).map((intent) => toServiceCall(miner, intent, (pool) => names.pools.get(pool))),
  );
}

const actionCall = (action: object, miner: Miner): ServiceCall =>
  first(actionIntents(action).map((intent) => toServiceCall(miner, intent, () => undefined)));

function first(calls: readonly ServiceCall[]): ServiceCall {
  const [call] = calls;
  if (call === undefined) throw fieldFault("action", "empty");
  return call;
}

/** To a pool definition or a group of them; `change_pool` also to a pool that the miner lists. */
function poolCall(miner: Miner, action: "change_pool" | "add_pool", name: string, names: Names): ServiceCall {
  const group = names.poolGroups.get(name);
  const single = names.pools.get(name);
  if (action === "change_pool" && group === undefined)
    return first(
      settingIntents("pool", name).map((intent) => toServiceCall(miner, intent, (pool) => names.pools.get(pool))),
    );
  const id = single ?? group;
  if (id === undefined)
    throw unknownName("input.invalid", "value", "pool", name, [...names.pools.keys(), ...names.poolGroups.keys()]);
  return actionCall({ action, pool_id: id, pool_type: single === undefined ? "group" : "single" }, miner);
}

function listedPoolCall(miner: Miner, command: PoolCommand, name: string): ServiceCall {
  const listed = listedPools(miner).find((each) => each.name === name || String(each.pool.id) === name);
  if (listed === undefined) throw fieldFault("value", "not-listed", { name: shortened(name), miner: miner.name });
  return { operation: "minerPoolAction", poolId: listed.pool.id, action: poolActions[command] };
}

function idOf(value: unknown, ids: ReadonlyMap<string, number>, what: "template" | "rule"): number {
  const name = String(value);
  const id = ids.get(name) ?? (isNumberText(name) ? Number(name) : undefined);
  if (id === undefined) throw unknownName("input.invalid", "value", what, name, ids.keys());
  return id;
}

/** Reads only the names that this request may need. */
export async function readNames(
  request: CommandRequest,
  { service, caller }: Pick<ConnectedService, "service" | "caller">,
): Promise<Names> {
  const takes = request.kind === "command" ? commandNamed(request.command)?.takes : "nothing";
  const [pools, groups] =
    takes === "pool"
      ? await Promise.all([service.listPools({}, caller), service.listPoolGroups({}, caller)])
      : [{ list: [] }, []];
  return {
    pools: byName(pools.list.map(({ id, description }) => ({ id, name: description }))),
    poolGroups: byName(groups.map(({ id, name }) => ({ id: Number(id), name }))),
    templates: byName(takes === "template" ? (await service.listManagedTemplates({}, caller)).managedTemplateList : []),
    rules: byName(takes === "rule" ? (await service.listMiners({}, caller)).manualActionList : []),
  };
}

/** The first of several with the same name. */
const byName = (list: readonly { readonly id: number; readonly name: string }[]): ReadonlyMap<string, number> =>
  new Map(list.toReversed().map(({ id, name }) => [name, id]));
