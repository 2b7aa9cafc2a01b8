import { RigbridgeError } from "../../contract/problems.ts";
import type { Caller, Input, MiningService } from "../../contract/service.ts";
import { detail } from "../../messages/detail.ts";
import { commandSpec } from "../commands/actions.ts";
import type { CommandExecutor } from "../commands/command-executor.ts";
import { runPaced } from "../commands/run-paced.ts";
import type { Entry } from "../miners/miner-entries.ts";
import { share } from "./follow-law.ts";
import { inOrder } from "./loop-rigs.ts";
import { miningOf, type RoomContext } from "./present-room.ts";
import type { Room } from "./room-book.ts";

export interface RoomRigsContext extends RoomContext {
  readonly runOnRig: MiningService["minerAction"];
  readonly executor: Pick<CommandExecutor, "record">;
}

type RigAction = Omit<Input<"minerAction">, "id">;

/** Rigs set concurrently. */
const atOnce = 64;

/** Gives each rig, in the order of the group, its highest setting within the remaining power, as with a surplus. */
export async function setPower(room: Room, watts: number, caller: Caller, context: RoomRigsContext): Promise<void> {
  const { loops } = context;
  const found = loops.rigsOf(room.minerIds);
  if (found.length === 0) throw new RigbridgeError("not.possible", detail("command.roomAway", { room: room.name }));
  const left = loops.rooms.leftAmong(new Set(found.map(({ id }) => id)));
  const rigs = found.map((rig) => ({
    ...rig,
    free: true,
    mayRise: true,
    room: left(rig.id),
    permits: () => true,
    wears: () => false,
  }));
  const demands = share(rigs, { now: watts, steady: watts });
  const failures: Failure[] = [];
  let done = 0;
  await inOrder(demands, rigs, async (some) => {
    const actions = new Map(some.map(({ id, value }) => [id, actionFor(value)]));
    const result = await runAll([...actions.keys()], (id) => actions.get(id), caller, context);
    failures.push(...result.failures);
    done += result.done;
  });
  report(room, failures, done);
}

const actionFor = (watts: number): RigAction =>
  watts === 0 ? { action: "stop" } : { action: "set", property: "power_target", value: String(watts) };

/** Stops the rigs until they are switched on again. */
export async function stop(room: Room, caller: Caller, context: RoomRigsContext): Promise<void> {
  const entries = entriesOf(room, context).filter((entry) => room.loop !== null || miningOf(entry) !== false);
  const off: RigAction = { action: "set", property: "mining", value: "false" };
  const ids = entries.map(({ facts }) => facts.id);
  const { failures, done } = await runAll(ids, () => off, caller, context);
  report(room, failures, done);
}

/** Starts the rigs; with a limit one after the other, as far as they fit. */
export async function start(room: Room, caller: Caller, context: RoomRigsContext): Promise<void> {
  const ids = entriesOf(room, context).flatMap((entry) => (miningOf(entry) === false ? [entry.facts.id] : []));
  const groups = room.max === null ? [ids] : ids.map((id) => [id]);
  const failures: Failure[] = [];
  let done = 0;
  for (const some of groups) {
    const result = await runAll(some, () => ({ action: "start" }), caller, context);
    failures.push(...result.failures);
    done += result.done;
  }
  const isFull = room.max !== null && done > 0;
  report(room, isFull ? failures.filter(({ error }) => !isNotPossible(error)) : failures, done);
}

const isNotPossible = (error: unknown): boolean => error instanceof RigbridgeError && error.code === "not.possible";

/**
 * Returns the rigs that the loop of a room leaves alone to the loop. As with a start, people cannot undo a recent
 * action of a safety rule.
 */
export async function handOver(room: Room, caller: Caller, context: RoomRigsContext): Promise<void> {
  const { loops, holds, executor } = context;
  const entries = entriesOf(room, context);
  await holds.load(entries);
  const failures: Failure[] = [];
  let done = 0;
  for (const entry of entries) {
    const { id, name } = entry.facts;
    const isFollowing = entry.rig.state.reading !== null && !loops.isHeld(entry);
    if (isFollowing) continue;
    const change = async (): Promise<string> => {
      const refusal = holds.refusal(entry, false, { actor: caller.actor, cause: null });
      if (refusal !== null) throw new RigbridgeError("not.possible", refusal);
      holds.handOver(id, room.name);
      return `${name} follows ${room.name} again`;
    };
    try {
      await executor.record(commandSpec(entry, { action: "follow", room: room.name }), caller, change);
      done += 1;
    } catch (error) {
      failures.push({ name, error });
    }
  }
  report(room, failures, done);
}

export const entriesOf = ({ minerIds }: Room, { registry }: Pick<RoomContext, "registry">): Entry[] =>
  minerIds.flatMap((id) => registry.find(id) ?? []);

interface Failure {
  readonly name: string;
  readonly error: unknown;
}

async function runAll(
  ids: readonly number[],
  actionOf: (id: number) => RigAction | undefined,
  caller: Caller,
  { runOnRig, registry }: RoomRigsContext,
): Promise<{ readonly failures: Failure[]; readonly done: number }> {
  const failures: Failure[] = [];
  let done = 0;
  const signal = new AbortController().signal;
  await runPaced(ids, { parallel: atOnce, delayMs: 0, signal, wait: () => Promise.resolve() }, async (id) => {
    const action = actionOf(id);
    if (action === undefined) return;
    try {
      await runOnRig({ id, ...action }, caller);
      done += 1;
    } catch (error) {
      failures.push({ name: registry.find(id)?.facts.name ?? `miner ${id}`, error });
    }
  });
  return { failures, done };
}

/** Throws the first failure, naming its rig. */
function report(room: Room, failures: readonly Failure[], done: number): void {
  const [first, ...others] = failures;
  if (first === undefined) return;
  const { name, error } = first;
  if (!(error instanceof RigbridgeError)) throw error;
  const also = others.length === 0 ? "" : `; ${others.length} more of ${room.name} failed`;
  const rest = done === 0 ? "" : `; the other rigs of ${room.name} were set`;
  throw new RigbridgeError(error.code, `${name}: ${error.message}${also}${rest}`);
}
