import { invalidAll, type Mistake, notFound, RigbridgeError } from "../../contract/problems.ts";
import type { Room as ShownRoom } from "../../contract/resources.ts";
import type { Caller, Input, MiningService } from "../../contract/service.ts";
import type { MoneySums } from "../../store/index.ts";
import type { RunOnLoop } from "../commands/actions.ts";
import { runPaced } from "../commands/run-paced.ts";
import type { Entry } from "../miners/miner-registry.ts";
import type { Access, AccessBook } from "../users/access.ts";
import { share } from "./follow-law.ts";
import { Heating } from "./heating.ts";
import { inOrder } from "./loop-rigs.ts";
import { highestOf, kindOf, miningOf, presentRoom, type RoomContext } from "./present-room.ts";
import type { Room } from "./room-book.ts";

export interface RoomOperationsContext extends RoomContext {
  readonly accessBook: AccessBook;
  readonly runOnRig: MiningService["minerAction"];
  readonly runOnLoop: RunOnLoop;
}

type RoomOperations = Pick<MiningService, "listRooms" | "changeRoom">;
type RigAction = Omit<Input<"minerAction">, "id">;

/** Rigs set at once. */
const atOnce = 64;

/** The rooms of the family page: each is set as one, by the same ways as single rigs. */
export function roomOperations(context: RoomOperationsContext): RoomOperations {
  const { loops, accessBook, registry } = context;
  const shown = new ShownRooms(context);
  const visible = (access: Access): Room[] => loops.roomsNow().filter((room) => isVisible(room, access, context));
  return {
    listRooms: async (_input, caller) => visible(accessBook.of(caller)).map((room) => shown.of(room)),
    changeRoom: async ({ key, target, power, on, max }, caller) => {
      const access = accessBook.of(caller);
      const room = visible(access).find((each) => each.key === key);
      if (room === undefined) throw notFound("room", key);
      const mistakes = mistakesIn({ target, power, max }, room, context);
      if (max !== undefined) checkMax(room, access);
      if (mistakes.length > 0) throw invalidAll(mistakes);
      try {
        if (max !== undefined) await setMax(room, max, context);
        if (target !== undefined || (on === true && kindOf(room) === "target"))
          await setTarget(room, target, caller, access, context);
        if (power !== undefined && power > 0) await setPower(room, power, caller, context);
        else if (power === 0 || on === false) await stop(room, caller, context);
        else if (on === true && kindOf(room) !== "target") await start(room, caller, context);
      } finally {
        shown.forget();
      }
      registry.change(loops.rooms.heldBy(room));
      return shown.of(loops.roomsNow().find((each) => each.key === key) ?? room);
    },
  };
}

/** Rooms as shown, made again when something has changed; for large fleets once a second at most. */
class ShownRooms {
  readonly #context: RoomContext;
  readonly #shown = new Map<string, ShownRoom>();
  readonly #sums = new Map<string, { readonly minute: number; readonly sums: MoneySums | null }>();
  #version = -1;
  #second = -1;
  #madeAt = Number.NEGATIVE_INFINITY;

  constructor(context: RoomContext) {
    this.#context = context;
  }

  of(room: Room): ShownRoom {
    this.#renew();
    const sumsOf: RoomContext["sumsOf"] = (ids, date) => this.#sumsOf(room, ids, date);
    const shown = this.#shown.get(room.key) ?? presentRoom(room, { ...this.#context, sumsOf });
    this.#shown.set(room.key, shown);
    return shown;
  }

  /** Reads of a minute count as one, so the sums are added up once a minute. */
  #sumsOf({ key }: Room, ids: readonly number[], date: string): MoneySums | null {
    const { now, sumsOf } = this.#context;
    const minute = Math.floor(now() / 60_000);
    const known = this.#sums.get(key);
    if (known?.minute === minute) return known.sums;
    const sums = sumsOf(ids, date);
    this.#sums.set(key, { minute, sums });
    return sums;
  }

  forget(): void {
    this.#madeAt = Number.NEGATIVE_INFINITY;
    this.#second = -1;
  }

  #renew(): void {
    const { registry, now } = this.#context;
    const { version } = registry.jsonCache;
    const second = Math.floor(now() / 1000);
    const isSame = version === this.#version && second === this.#second;
    if (isSame || performance.now() < this.#madeAt + registry.fleet.size / 10) return;
    this.#shown.clear();
    this.#version = version;
    this.#second = second;
    this.#madeAt = performance.now();
  }
}

/** A user who does not see all rigs of a room does not see the room. */
function isVisible({ groupId, minerIds }: Room, { all, seesGroup }: Access, { registry }: RoomContext): boolean {
  if (all) return true;
  const groups = [
    ...(groupId === null ? [] : [groupId]),
    ...minerIds.flatMap((id) => registry.find(id)?.facts.groupId ?? []),
  ];
  return groups.length > 0 && groups.every(seesGroup);
}

function checkMax({ name, max }: Room, { privilege }: Access): void {
  if (privilege !== "administrator")
    throw new RigbridgeError("user.forbidden", `Only an administrator sets the maximum of ${name}`);
  if (max?.owner === "file")
    throw new RigbridgeError(
      "owned.by-file",
      `The maximum of ${name} is declared by the configuration file; change it there`,
    );
}

function mistakesIn(
  { target, power, max }: Partial<Input<"changeRoom">>,
  room: Room,
  { loops }: RoomContext,
): Mistake[] {
  const { name } = room;
  const kind = kindOf(room);
  const mistakes: Mistake[] = [];
  if (target !== undefined && kind !== "target")
    mistakes.push({ path: "target", message: `cannot be set: ${name} does not hold a temperature` });
  if (power === undefined) return mistakes;
  const own = kind === "target" ? "holds a temperature; set target" : "follows a surplus";
  if (kind !== "power") mistakes.push({ path: "power", message: `cannot be set: ${name} ${own}` });
  const most = max === undefined ? (room.max?.watts ?? null) : max;
  const highest = Math.ceil(highestOf(loops.rigsOf(room.minerIds)));
  if (most !== null && power > most)
    mistakes.push({ path: "power", message: `must be at most ${most} W, the maximum of ${name}` });
  else if (kind === "power" && highest > 0 && power > highest)
    mistakes.push({ path: "power", message: `must be at most ${highest} W, which is all that its rigs can take` });
  return mistakes;
}

async function setMax(room: Room, watts: number | null, { loops, registry }: RoomContext): Promise<void> {
  await loops.rooms.setMax(room, watts);
  registry.change(loops.rooms.heldBy(room));
  const changed = loops.rooms.find(room.key);
  if (changed !== undefined) await loops.holdMaximum(changed);
}

/** Without a target, the room gets its rigs back at the present one. */
async function setTarget(
  room: Room,
  target: number | undefined,
  caller: Caller,
  access: Access,
  context: RoomOperationsContext,
): Promise<void> {
  const [entry] = entriesOf(room, context);
  if (entry === undefined || !(room.loop instanceof Heating))
    throw new RigbridgeError("not.possible", `${room.name} has no rig`);
  const temperature = target ?? room.loop.status.target;
  await context.runOnLoop(entry, { action: "set_target_temperature", temperature }, caller, access);
}

/** Each rig, in the order of the group, gets its highest setting within what is left, as with a surplus. */
async function setPower(room: Room, watts: number, caller: Caller, context: RoomOperationsContext): Promise<void> {
  const { loops } = context;
  const found = loops.rigsOf(room.minerIds);
  if (found.length === 0)
    throw new RigbridgeError("not.possible", `No rig of ${room.name} can be reached and set to a power now`);
  const left = loops.rooms.leftAmong(new Set(found.map(({ id }) => id)));
  const rigs = found.map((rig) => ({
    ...rig,
    ...{ free: true, mayRise: true, room: left(rig.id), permits: () => true, wears: () => false },
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

/** Until its rigs are switched on again. */
async function stop(room: Room, caller: Caller, context: RoomOperationsContext): Promise<void> {
  const entries = entriesOf(room, context).filter((entry) => room.loop !== null || miningOf(entry) !== false);
  const off: RigAction = { action: "set", property: "mining", value: "false" };
  const ids = entries.map(({ facts }) => facts.id);
  const { failures, done } = await runAll(ids, () => off, caller, context);
  report(room, failures, done);
}

/** One after the other where there is a maximum: those that fit. */
async function start(room: Room, caller: Caller, context: RoomOperationsContext): Promise<void> {
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

const entriesOf = ({ minerIds }: Room, { registry }: RoomContext): Entry[] =>
  minerIds.flatMap((id) => registry.find(id) ?? []);

interface Failure {
  readonly name: string;
  readonly error: unknown;
}

async function runAll(
  ids: readonly number[],
  actionOf: (id: number) => RigAction | undefined,
  caller: Caller,
  { runOnRig, registry }: RoomOperationsContext,
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

/** Throws the first failure, with the rig that it is of. */
function report(room: Room, failures: readonly Failure[], done: number): void {
  const [first, ...others] = failures;
  if (first === undefined) return;
  const { name, error } = first;
  if (!(error instanceof RigbridgeError)) throw error;
  const also = others.length === 0 ? "" : `; ${others.length} more of ${room.name} failed`;
  const rest = done === 0 ? "" : `; the other rigs of ${room.name} were set`;
  throw new RigbridgeError(error.code, `${name}: ${error.message}${also}${rest}`);
}
