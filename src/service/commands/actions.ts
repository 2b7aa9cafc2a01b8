import { notFound, notYet, RigbridgeError } from "../../contract/problems.ts";
import type { Caller, Input, MiningService } from "../../contract/service.ts";
import type { PoolAction, PoolLogin, Reading } from "../../link/driver.ts";
import type { Store } from "../../store/index.ts";
import type { Entry, MinerRegistry } from "../miners/miner-registry.ts";
import type { PoolBook } from "../money/pool-book.ts";
import { isForLoop, type Loops } from "../power/loops.ts";
import type { PowerTargets } from "../power/power-targets.ts";
import { done } from "../replies.ts";
import { find } from "../stored.ts";
import type { Access, AccessBook } from "../users/access.ts";
import type { CommandExecutor, CommandSpec } from "./command-executor.ts";
import { addPool, changePool, onPool, type Step, setControl } from "./steps.ts";

type ActionOperations = Pick<MiningService, "minerAction" | "minerPoolAction">;

/** An action without the miner that it is for. */
export type Action = Omit<Input<"minerAction">, "id"> & {
  /** Of a restart: a rig that cannot restart its miner is rebooted. */
  readonly orReboot?: boolean;
};
type Parameter = CommandSpec["parameters"][string];

/** What a person tells one rig to do. */
export function actionOperations(
  registry: MinerRegistry,
  executor: CommandExecutor,
  stepsOf: StepsOf,
  accessBook: AccessBook,
  tellLoop: TellLoop,
): ActionOperations {
  return {
    minerAction: async ({ id, ...asked }, caller) => {
      const access = accessBook.of(caller);
      const entry = registry.steeredFor(id, access);
      const { action, ...parameters } = asked;
      if (isForLoop(action)) return done(await tellLoop(entry, asked, caller, access));
      return executor.run(entry.rig, orderOf(entry, action, parameters), caller, stepsOf(asked, access)(id));
    },
    minerPoolAction: async ({ id, poolId, action }, caller) => {
      const entry = registry.steeredFor(id, accessBook.of(caller));
      const spec = orderOf(entry, `pool_${action}`, { pool: poolId });
      const step: Step = (reading) => {
        const pool = registry.poolById(id, poolId, reading.pools);
        if (pool === undefined) throw notFound("pool", poolId);
        return onPool(action, pool, reading);
      };
      return executor.run(entry.rig, spec, caller, [explained(step, [action])]);
    },
  };
}

/** Says something to the loop of a miner; resolves with what came of it. Throws as `Loops.take`. */
export type TellLoop = (entry: Entry, asked: Action, caller: Caller, access: Access) => Promise<string>;

/** What a person wants of a room is written down; what is measured is not. */
export const loopTelling =
  (loops: Loops, executor: CommandExecutor): TellLoop =>
  async (entry, asked, caller, access) => {
    const { action, ...parameters } = asked;
    const message = await loops.take(asked, entry.facts.id, access);
    if (action === "set_target_temperature") await executor.record(orderOf(entry, action, parameters), caller, message);
    return message;
  };

/** An action as the audit shows it. */
export function orderOf(
  { facts }: Entry,
  action: string,
  given: Readonly<Record<string, Parameter | undefined>>,
): CommandSpec {
  const parameters: Record<string, Parameter> = {};
  for (const [name, value] of Object.entries(given)) if (value !== undefined) parameters[name] = value;
  return { minerId: facts.id, minerName: facts.name, action, parameters };
}

/**
 * What an action consists of. Throws, before a command is written down, when it refers to what is not there for these
 * eyes, or not there yet.
 */
export type StepsOf = (action: Action, access: Access) => (minerId: number) => Step[];

export function actionSteps({ templates, rules }: Store, book: PoolBook, power: PowerTargets): StepsOf {
  const loginsOf = ({ pool_id = 0, pool_type = "single" }: Action, access: Access): PoolLogin[] =>
    book.logins(pool_id, pool_type, access);
  const stepsOf: StepsOf = (action, access) => {
    switch (action.action) {
      case "reboot":
        return alike(reboot);
      case "restart":
        return alike(action.orReboot ? restartOrReboot : restart);
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
        return alike(setControl("locate", String(action.on), "on"));
      case "add_pool":
        return alike(...loginsOf(action, access).map(addPool));
      case "change_pool": {
        const [first, ...others] = loginsOf(action, access);
        if (first === undefined) throw notFound("pool", action.pool_id ?? 0);
        return alike(...changePool(first, others));
      }
      case "apply_template":
        find(templates, action.template_id ?? 0, "managed template");
        throw notYet("Applying a managed template");
      case "rule":
        find(rules, action.rule_id ?? 0, "rule");
        throw notYet("Running a rule");
      // No rig is told anything.
      case "set_target_temperature":
      case "set_room_temperature":
      case "set_surplus":
        return alike();
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

/** What a rig does not offer is refused with what keeps it back, where that is known. */
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

/** The same for every miner. */
const alike =
  (...steps: readonly Step[]) =>
  (): Step[] => [...steps];
