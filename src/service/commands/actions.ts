import { notFound, RigbridgeError } from "../../contract/problems.ts";
import type { ActionReply } from "../../contract/resources.ts";
import type { Caller, Input, MiningService } from "../../contract/service.ts";
import type { PoolAction, PoolLogin, Reading } from "../../link/driver.ts";
import { done } from "../crud.ts";
import type { Entry } from "../miners/miner-entries.ts";
import type { MinerRegistry } from "../miners/miner-registry.ts";
import type { PoolBook } from "../money/pool-book.ts";
import type { Access, AccessBook } from "../users/access.ts";
import type { CommandExecutor, CommandSpec } from "./command-executor.ts";
import { addPool, changePool, locate, onPool, type Step, setControl } from "./steps.ts";

type ActionOperations = Pick<MiningService, "minerAction" | "minerPoolAction">;

/** An action without the miner that it is for. */
export type Action = Omit<Input<"minerAction">, "id"> & {
  /** For a restart: reboot a rig that cannot restart its miner. */
  readonly orReboot?: boolean;
};
type Parameter = CommandSpec["parameters"][string];

/** The loops that accept actions for a miner. */
export interface ActionLoops {
  /** Resolves with the result. Throws like `addressed`, and `input.invalid`. */
  take(action: Action, minerId: number, access: Access): Promise<string>;
  /** Throws `not.possible` if the miner has no such loop, `user.forbidden` if it has miners hidden from this access. */
  addressed(action: Action, minerId: number, access: Access): unknown;
}

/** Steps that control the power of a rig. */
export interface PowerSteps {
  stop(minerId: number): Step[];
  start(minerId: number): Step[];
  /** Sets a control; the value is checked against the rig's reading. */
  setting(minerId: number, key: string, text: string, path?: string): Step[];
}

/** Changes of managed miners, stored with the miner. Each throws like `StepsOf`. */
export interface ManagedSteps {
  isManaged(minerId: number): boolean;
  changePool(minerId: number, poolId: number, type: "single" | "group"): Step[];
  addPool(minerId: number, poolId: number, type: "single" | "group"): Step[];
  /** The software settings of a template. */
  applyTemplate(minerId: number, templateId: number): Step[];
}

/** Whether an action is for the loop of a miner and writes nothing to the rig. */
export const isForLoop = (action: Action["action"]): boolean =>
  action === "set_room_temperature" || action === "set_target_temperature" || action === "set_surplus";

/** Runs an action on the rig of a miner. */
export const rigAction =
  (registry: MinerRegistry, executor: CommandExecutor, stepsOf: StepsOf, accessBook: AccessBook, guard: PowerGuard) =>
  async ({ id, ...request }: Input<"minerAction">, caller: Caller): Promise<ActionReply> => {
    const access = accessBook.of(caller);
    const entry = registry.entryFor(id, access);
    const spec = commandSpec(entry, request);
    const steps = stepsOf(request, access)(id);
    guard(entry, spec, caller);
    return executor.run(entry.rig, spec, caller, steps);
  };

/**
 * Throws `not.possible` if a holder with precedence over the caller controls the power that this command would change.
 */
export type PowerGuard = (entry: Entry, spec: CommandSpec, caller: Caller) => void;

/** The actions of a single miner. */
export function actionOperations(
  registry: MinerRegistry,
  executor: CommandExecutor,
  runOnRig: ReturnType<typeof rigAction>,
  accessBook: AccessBook,
  runOnLoop: RunOnLoop,
  runList: (input: Input<"minerAction">, caller: Caller) => Promise<ActionReply | undefined>,
): ActionOperations {
  return {
    minerAction: async (input, caller) => {
      if (!isForLoop(input.action)) return (await runList(input, caller)) ?? runOnRig(input, caller);
      const access = accessBook.of(caller);
      const { id, ...request } = input;
      return done(await runOnLoop(registry.entryFor(id, access), request, caller, access));
    },
    minerPoolAction: async ({ id, poolId, action }, caller) => {
      const entry = registry.entryFor(id, accessBook.of(caller));
      const spec = commandSpec(entry, { action: `pool_${action}`, pool: poolId });
      const step: Step = (reading) => {
        const pool = registry.display.poolById(id, poolId, reading.pools);
        if (pool === undefined) throw notFound("pool", poolId);
        return onPool(action, pool, reading);
      };
      return executor.run(entry.rig, spec, caller, [explained(step, [action])]);
    },
  };
}

/** Passes an action to the loop of a miner; resolves with the result. Throws like `ActionLoops.take`. */
export type RunOnLoop = (entry: Entry, action: Action, caller: Caller, access: Access) => Promise<string>;

/** Target temperatures are set by people and recorded as commands; measured values are not. */
export const loopAction =
  (loops: ActionLoops, executor: CommandExecutor): RunOnLoop =>
  async (entry, action, caller, access) => {
    const message = await loops.take(action, entry.facts.id, access);
    if (action.action !== "set_target_temperature") return message;
    await executor.enqueue({ ...commandSpec(entry, action), done: message }, caller);
    return message;
  };

/** An action as the audit shows it. */
export function commandSpec(
  { facts }: Entry,
  { action, ...given }: { readonly action: string } & Readonly<Record<string, Parameter | undefined>>,
): CommandSpec {
  const parameters: Record<string, Parameter> = {};
  for (const [name, value] of Object.entries(given)) if (value !== undefined) parameters[name] = value;
  return { minerId: facts.id, minerName: facts.name, action, parameters };
}

/**
 * The steps of an action. Throws, before a command is stored, if the action names something that does not exist or is
 * hidden from this access.
 */
export type StepsOf = (action: Action, access: Access) => (minerId: number) => Step[];

export function actionSteps(book: PoolBook, power: PowerSteps, managed: ManagedSteps): StepsOf {
  const loginsOf = ({ pool_id = 0, pool_type = "single" }: Action, access: Access): PoolLogin[] =>
    book.logins(pool_id, pool_type, access);
  const pools =
    ({ pool_id = 0, pool_type = "single" }: Action, change: ManagedSteps["addPool"], ofRig: readonly Step[]) =>
    (minerId: number): Step[] =>
      managed.isManaged(minerId) ? change(minerId, pool_id, pool_type) : [...ofRig];
  const stepsOf: StepsOf = (action, access) => {
    switch (action.action) {
      case "reboot":
        return sameForAll(reboot);
      case "restart":
        return sameForAll(action.orReboot ? restartOrReboot : restart);
      case "stop":
        return (minerId) => power.stop(minerId);
      case "start":
        return (minerId) => power.start(minerId);
      case "set": {
        const { property = "", value = "" } = action;
        return (minerId) => power.setting(minerId, property, value);
      }
      case "set_power_limit":
        return (minerId) => power.setting(minerId, "power_limit", String(action.watts), "watts");
      case "set_mode":
        return (minerId) => power.setting(minerId, "mode", action.mode ?? "", "mode");
      case "locate":
        return sameForAll(locate(action.on === true));
      case "add_pool":
        return pools(action, managed.addPool, loginsOf(action, access).map(addPool));
      case "change_pool": {
        const [first, ...others] = loginsOf(action, access);
        if (first === undefined) throw notFound("pool", action.pool_id ?? 0);
        return pools(action, managed.changePool, changePool(first, others));
      }
      case "apply_template": {
        const { template_id = 0 } = action;
        return (minerId) => managed.applyTemplate(minerId, template_id);
      }
      case "rule":
        throw new RigbridgeError("internal", "A list of steps is run step by step");
      // Nothing is written to the rig.
      case "set_target_temperature":
      case "set_room_temperature":
      case "set_surplus":
        return sameForAll();
    }
  };
  return (action, access) => {
    const steps = stepsOf(action, access);
    const wanted = poolActionsOf[action.action] ?? [];
    return (minerId) => steps(minerId).map((step) => explained(step, wanted));
  };
}

const poolActionsOf: Partial<Readonly<Record<string, readonly PoolAction[]>>> = {
  add_pool: ["add"],
  change_pool: ["use", "switch", "add"],
};

/** Adds the known reason to the refusal of an action that the rig does not support. */
const explained =
  (step: Step, poolActions: readonly PoolAction[]): Step =>
  (reading) => {
    try {
      return step(reading);
    } catch (error) {
      throw withReason(error, reading, poolActions);
    }
  };

function withReason(
  error: unknown,
  { locked, poolsWithheld = {} }: Reading,
  poolActions: readonly PoolAction[],
): unknown {
  if (!(error instanceof RigbridgeError) || error.code !== "control.absent") return error;
  if (locked !== undefined)
    return new RigbridgeError(locked.why === "read-only" ? "rig.read-only" : "rig.login", capitalised(locked.text));
  const [why] = poolActions.flatMap((action) => poolsWithheld[action] ?? []);
  return why === undefined ? error : new RigbridgeError("not.possible", why);
}

const capitalised = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

const reboot = setControl("reboot", "true");
const restart = setControl("restart", "true");
const restartOrReboot: Step = (reading) =>
  reading.controls.some(({ key }) => key === "restart") ? restart(reading) : reboot(reading);

const sameForAll =
  (...steps: readonly Step[]) =>
  (): Step[] => [...steps];
