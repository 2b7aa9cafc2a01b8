import { invalidAll, type Mistake, mistake, notFound, RigbridgeError } from "../../contract/problems.ts";
import type { Room as ShownRoom } from "../../contract/resources.ts";
import type { Caller, Input, MiningService } from "../../contract/service.ts";
import { detail } from "../../messages/detail.ts";
import type { MoneySums } from "../../store/index.ts";
import type { RunOnLoop } from "../commands/actions.ts";
import type { CommandSpec } from "../commands/command-executor.ts";
import type { Access, AccessBook } from "../users/access.ts";
import { Follow } from "./follow.ts";
import { Heating } from "./heating.ts";
import { highestOf, kindOf, lowestOf, presentRoom, type RoomContext } from "./present-room.ts";
import type { Room } from "./room-book.ts";
import { entriesOf, handOver, type RoomRigsContext, setPower, start, stop } from "./room-rigs.ts";

export interface RoomOperationsContext extends RoomRigsContext {
  readonly accessBook: AccessBook;
  readonly runOnLoop: RunOnLoop;
}

type RoomOperations = Pick<MiningService, "listRooms" | "changeRoom">;

/** The rooms of the family page: each is set as one, in the same way as single rigs. */
export function roomOperations(context: RoomOperationsContext): RoomOperations {
  const { loops, accessBook, registry } = context;
  const shown = new ShownRooms(context);
  const visible = (access: Access): Room[] => loops.roomsNow().filter((room) => isVisible(room, access, context));
  return {
    listRooms: async (_input, caller) => Promise.all(visible(accessBook.of(caller)).map((room) => shown.of(room))),
    changeRoom: async ({ key, target, power, on, max }, caller) => {
      const access = accessBook.of(caller);
      const room = visible(access).find((each) => each.key === key);
      if (room === undefined) throw notFound("room", key);
      const mistakes = mistakesIn({ target, power, max }, room, context);
      if (max !== undefined) checkMax(room, access);
      if (mistakes.length > 0) throw invalidAll(mistakes);
      try {
        if (max !== undefined) await setMax(room, max, caller, context);
        if (target !== undefined || (on === true && kindOf(room) === "target"))
          await setTarget(room, target, caller, access, context);
        if (power === 0 || on === false) await stop(room, caller, context);
        else if (room.loop instanceof Follow) {
          if (power !== undefined) await setLimit(room, room.loop, power, caller, context);
          if (power !== undefined || on === true) await handOver(room, caller, context);
        } else if (power !== undefined) await setPower(room, power, caller, context);
        else if (on === true && kindOf(room) === "power") await start(room, caller, context);
      } finally {
        shown.forget();
      }
      registry.display.change(loops.rooms.heldBy(room));
      return shown.of(loops.roomsNow().find((each) => each.key === key) ?? room);
    },
  };
}

/** Displayed rooms, rebuilt after changes; for large fleets at most once a second. */
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

  async of(room: Room): Promise<ShownRoom> {
    const money = await this.#moneyOf(room);
    this.#renew();
    const shown = this.#shown.get(room.key) ?? presentRoom(room, money, this.#context);
    this.#shown.set(room.key, shown);
    return shown;
  }

  /** Reads within a minute count as one, so the sums are added up once a minute. */
  async #moneyOf({ key, minerIds }: Room): Promise<MoneySums | null> {
    const { now, sumsOf, localTime } = this.#context;
    const minute = Math.floor(now() / 60_000);
    const known = this.#sums.get(key);
    if (known?.minute === minute) return known.sums;
    const sums = await sumsOf(minerIds, localTime(now()).date);
    this.#sums.set(key, { minute, sums });
    return sums;
  }

  forget(): void {
    this.#madeAt = Number.NEGATIVE_INFINITY;
    this.#second = -1;
  }

  #renew(): void {
    const { registry, now } = this.#context;
    const { version } = registry.display.jsonCache;
    const second = Math.floor(now() / 1000);
    const isSame = version === this.#version && second === this.#second;
    if (isSame || performance.now() < this.#madeAt + registry.fleet.size / 10) return;
    this.#shown.clear();
    this.#version = version;
    this.#second = second;
    this.#madeAt = performance.now();
  }
}

/** A room is hidden from users who do not see all of its rigs. */
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
    throw new RigbridgeError("user.forbidden", detail("rights.maximum", { room: name }));
  if (max?.owner === "file") throw new RigbridgeError("owned.by-file", detail("owned.maximum", { room: name }));
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
    mistakes.push(mistake("target", detail("input.roomNoTarget", { room: name })));
  if (power === undefined) return mistakes;
  if (kind === "target") mistakes.push(mistake("power", detail("input.roomNoPower", { room: name })));
  const most = max === undefined ? (room.max?.watts ?? null) : max;
  const rigs = loops.rigsOf(room.minerIds);
  const highest = Math.ceil(highestOf(rigs));
  const lowest = Math.floor(lowestOf(rigs));
  if (most !== null && power > most)
    mistakes.push(mistake("power", detail("input.roomMaximum", { watts: most, room: name })));
  else if (kind !== "target" && highest > 0 && power > highest)
    mistakes.push(mistake("power", detail("input.roomHighest", { watts: highest })));
  else if (kind === "surplus" && highest > 0 && power > 0 && power < lowest)
    mistakes.push(mistake("power", detail("input.roomLowest", { watts: lowest })));
  return mistakes;
}

async function setMax(
  room: Room,
  watts: number | null,
  caller: Caller,
  { loops, registry, executor }: RoomOperationsContext,
): Promise<void> {
  const { name, max } = room;
  const spec = changeSpec(room, "set_room_maximum", max?.watts ?? null, watts, registry);
  await executor.record(spec, caller, async () => {
    await loops.rooms.setMax(room, watts);
    return watts === null ? `${name} has no maximum` : `${name} may take ${watts} W at most`;
  });
  registry.display.change(loops.rooms.heldBy(room));
  const changed = loops.rooms.find(room.key);
  if (changed !== undefined) await loops.holdMaximum(changed);
}

/** Setting a room to all that its rigs can take removes the limit, so that later rigs are included. */
async function setLimit(
  room: Room,
  loop: Follow,
  watts: number,
  caller: Caller,
  { loops, registry, executor }: RoomOperationsContext,
): Promise<void> {
  const highest = Math.floor(highestOf(loops.rigsOf(room.minerIds)));
  const max = loops.rooms.find(room.key)?.max?.watts ?? Number.POSITIVE_INFINITY;
  const all = Math.min(highest > 0 ? highest : Number.POSITIVE_INFINITY, max);
  const limit = watts >= all ? null : watts;
  const spec = changeSpec(room, "set_surplus_limit", loop.limit, limit, registry);
  await executor.record(spec, caller, () => loop.setLimit(limit));
}

/** A change of a room in the audit: for the first of its rigs; miner 0 if it has none. */
function changeSpec(
  room: Room,
  action: string,
  from: number | null,
  to: number | null,
  registry: RoomContext["registry"],
): CommandSpec {
  const parameters = { room: room.name, from: from ?? "none", to: to ?? "none" };
  const facts = entriesOf(room, { registry })[0]?.facts;
  return { minerId: facts?.id ?? 0, minerName: facts?.name ?? room.name, action, parameters };
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
    throw new RigbridgeError("not.possible", detail("command.roomEmpty", { room: room.name }));
  const temperature = target ?? room.loop.status.target;
  await context.runOnLoop(entry, { action: "set_target_temperature", temperature }, caller, access);
}
