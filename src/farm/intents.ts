import { bulkAction, type MinerActionInput, MinerActionQuery, minerActions } from "../contract/inputs.ts";
import { inAnyCase } from "../contract/nearest.ts";
import { invalid, invalidAll, type Mistake, RigbridgeError } from "../contract/problems.ts";
import { type Part, type Property, type PropertyKey, properties } from "../contract/properties.ts";
import type { ControlKey } from "../contract/readings.ts";
import { isRecord } from "../contract/record.ts";
import type { ActionReply, Miner } from "../contract/resources.ts";
import type { Caller, Input, MiningService } from "../contract/service.ts";
import { checkTrigger } from "../contract/triggers.ts";
import { wording } from "../contract/wording.ts";
import { listedPools, poolInUse } from "./pools.ts";
import { scalar } from "./values.ts";

/** What a user wants of a miner. */
export type Intent =
  | { readonly kind: "action"; readonly action: MinerActionInput }
  | { readonly kind: "set"; readonly property: string; readonly value: string };

type PoolAction = Input<"minerPoolAction">["action"];

/** The call of the service that carries out an intent. */
export type ServiceCall =
  | { readonly operation: "minerAction"; readonly action: MinerActionInput }
  | { readonly operation: "minerPoolAction"; readonly poolId: number; readonly action: PoolAction }
  /** Nothing to do. */
  | { readonly operation: null; readonly message: string };

/** Reads a payload at `action`: a word, or JSON with parameters. Throws `input.invalid`. */
export function actionIntents(value: unknown): Intent[] {
  const { action: given, transaction: _, ...parameters } = isRecord(value) ? value : { action: value };
  const action = typeof given === "string" ? given.trim().toLowerCase() : null;
  if (action === null) throw invalid("action", `is required: one of ${minerActions.join(", ")}`);
  const texts = Object.entries(parameters).map(([name, each]) => [name, scalar(each, name)]);
  const checked = bulkAction({ action, parameters: Object.fromEntries(texts) });
  if (checked.action === null) throw invalidAll(checked.mistakes.map(unprefixed));
  return [{ kind: "action", action: checked.action }];
}

const unprefixed = ({ path, message }: Mistake): Mistake => ({ path: path.replace(/^parameters\./, ""), message });

/** Reads a payload at `<property>/set`: plain text, a JSON value, or JSON with `value`. Throws `input.invalid`. */
export function settingIntents(property: string, value: unknown): Intent[] {
  if (!isRecord(value)) return [settingOf(property, value)];
  const { value: wanted, transaction: _, ...others } = value;
  refuseUnknown(Object.keys(others), "value and transaction");
  return [settingOf(property, wanted)];
}

/** Reads a payload at `set`: JSON with properties. Throws `input.invalid`. */
export function settingsIntents(value: unknown): Intent[] {
  if (!isRecord(value)) throw invalid("payload", 'must be a JSON object like {"power_limit": 900}');
  const { transaction: _, ...wanted } = value;
  const intents = Object.entries(wanted).map(([property, each]) => settingOf(property, each));
  if (intents.length === 0) throw invalid("payload", "contains no property to set");
  return intents;
}

function settingOf(property: string, value: unknown): Intent {
  if (!isKnown(property)) throw invalid("property", `"${shortened(property)}" is not a property`);
  return { kind: "set", property, value: scalar(value, property) };
}

const refuseUnknown = (names: readonly string[], keys: string): void => {
  if (names.length > 0)
    throw invalidAll(names.map((path) => ({ path, message: `is not a known key; the keys are ${keys}` })));
};

const shortened = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text);

/**
 * The call for an intent, with the controls that this miner has now. `poolNamed`: the Static ID of a pool definition.
 * Throws `input.invalid`, and `control.absent` if the miner has no control for it.
 */
export function toServiceCall(
  miner: Miner,
  intent: Intent,
  poolNamed: (name: string) => number | undefined,
): ServiceCall {
  if (intent.kind === "action") return { operation: "minerAction", action: intent.action };
  const { property, value } = intent;
  if (property === "pool") return poolChange(miner, value, poolNamed);
  if (property === "room_target") return act({ action: "set_target_temperature", temperature: value }, property);
  if (property === "heating_mode") return toServiceCall(miner, heatingModeIntent(miner, value), poolNamed);
  if (property === "room_temperature") return act({ action: "set_room_temperature", temperature: value }, property);
  const key = controlKeyOf(property);
  if (key === undefined) throw controlAbsent(`"${property}" of ${miner.name} is read-only`);
  const control = miner.controls.find((each) => each.key === key);
  if (control === undefined) throw controlAbsent(`${miner.name} has no control "${property}"${notesOf(miner)}`);
  if (control.kind === "trigger") checkTrigger(property, value, property);
  if (key === "reboot" || key === "restart") return act({ action: key }, property);
  return act({ action: "set", property: key, value }, property);
}

/** Whether this miner has the controls for all intents; the miner itself refuses invalid values. */
export function isExecutable(
  miner: Miner,
  intents: readonly Intent[],
  poolNamed: (name: string) => number | undefined,
): boolean {
  try {
    for (const intent of intents) toServiceCall(miner, intent, poolNamed);
    return true;
  } catch (error) {
    return !(error instanceof RigbridgeError && error.code === "control.absent");
  }
}

/**
 * The result of all calls; `sent` or `queued` if the miner has not answered all of them yet. `taken`: it has answered, and
 * what is still `sent` is a restart that it has not confirmed yet.
 */
export interface Execution {
  readonly message: string;
  readonly state: "queued" | "sent" | "done";
  readonly taken?: true;
}

/** Executes calls one after the other. Throws the first failure; later calls are not executed. */
export async function execute(
  service: MiningService,
  caller: Caller,
  minerId: number,
  calls: readonly ServiceCall[],
): Promise<Execution> {
  const replies: Partial<ActionReply>[] = [];
  for (const call of calls) {
    if (call.operation === null) replies.push({ message: call.message });
    else if (call.operation === "minerAction")
      replies.push(await service.minerAction({ ...call.action, id: minerId }, caller));
    else replies.push(await service.minerPoolAction({ id: minerId, poolId: call.poolId, action: call.action }, caller));
  }
  const message = replies.map((reply) => reply.message).join("; ");
  const open = replies.filter(({ state }) => state === "sent" || state === "queued");
  const { state, taken } = open.find((reply) => reply.taken === undefined) ?? open[0] ?? {};
  if (state !== "sent" && state !== "queued") return { message, state: "done" };
  return { message, state, ...(taken === undefined ? {} : { taken }) };
}

/** Reports mistakes by the property's name, not the action's parameter. */
function act(query: Readonly<Record<string, string>>, property: string): ServiceCall {
  const { data, error } = MinerActionQuery.safeParse(query, { error: wording });
  if (error !== undefined) throw invalidAll(error.issues.map(({ message }) => ({ path: property, message })));
  return { operation: "minerAction", action: data };
}

/** Off stops the miner until a user starts it; setting the room's target ends that. */
function heatingModeIntent({ name, heating }: Miner, value: string): Intent {
  if (heating === null) throw controlAbsent(`${name} does not heat a room`);
  const mode = value.toLowerCase();
  if (mode === "heat") return { kind: "set", property: "room_target", value: String(heating.target) };
  if (mode === "off") return { kind: "set", property: "mining", value: "false" };
  throw invalid("heating_mode", "must be off or heat");
}

/** By displayed name, in any case: of a pool that the rig lists, else of a pool definition. */
function poolChange(miner: Miner, name: string, poolNamed: (name: string) => number | undefined): ServiceCall {
  const isNamed = (each: string): boolean => each === name || each.slice(0, 250) === name;
  const listed = listedPools(miner).find((each) => isNamed(each.name))?.pool;
  const present = poolInUse(miner);
  if (present !== null && isNamed(present)) return { operation: null, message: `${miner.name} already uses that pool` };
  if (listed?.canPrioritize) return { operation: "minerPoolAction", poolId: listed.id, action: "prioritize" };
  const defined = miner.canPoolSwitch ? poolNamed(name) : undefined;
  if (defined !== undefined)
    return act({ action: "change_pool", pool_id: String(defined), pool_type: "single" }, "pool");
  if (listed === undefined) {
    const others = [...listedPools(miner).map((each) => each.name), ...(present === null ? [] : [present])];
    const meant = inAnyCase(name, others);
    if (meant !== undefined) return poolChange(miner, meant, poolNamed);
    throw invalid("pool", `"${shortened(name)}" is not a pool of ${miner.name}`);
  }
  throw controlAbsent(`${miner.name} cannot change its pool${notesOf(miner)}`);
}

/** Notes say why a control is missing, such as a missing login. */
const notesOf = ({ readings: { notes } }: Miner): string =>
  notes.length === 0 ? "" : `; its notes: ${notes.join("; ").slice(0, 400)}`;

const controlAbsent = (message: string): RigbridgeError => new RigbridgeError("control.absent", message);

/** The control that writes a field of the state; undefined if none does. */
function controlKeyOf(field: string): ControlKey | undefined {
  const [, slot] = /^board_(\d{1,2})$/.exec(field) ?? [];
  if (slot !== undefined) return controlOf(properties.board, Number(slot));
  if (!isPropertyKey(field)) return undefined;
  const property: Property = properties[field];
  return property.of === "miner" ? controlOf(property, 0) : undefined;
}

const controlOf = ({ control }: Property, part: Part): ControlKey | undefined => control?.(part);

const isPropertyKey = (name: string): name is PropertyKey => Object.hasOwn(properties, name);

const isKnown = (field: string): boolean =>
  field === "heating_mode" || isPropertyKey(field.replace(/^(board|fan)_\d{1,2}(?=_|$)/, "$1"));
