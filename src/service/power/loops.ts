import { isDeepStrictEqual } from "node:util";
import { RigbridgeError } from "../../contract/problems.ts";
import { coded } from "../../messages/coded.ts";
import { detail } from "../../messages/detail.ts";
import type { StoredCommand } from "../../store/index.ts";
import type { Action, ActionLoops } from "../commands/actions.ts";
import { enabled } from "../crud.ts";
import type { Entry } from "../miners/miner-entries.ts";
import { withInnerGroups } from "../nested-groups.ts";
import type { Repeat } from "../repeat.ts";
import type { Sections } from "../settings/live-settings.ts";
import type { Access } from "../users/access.ts";
import { Follow } from "./follow.ts";
import { type Follower, share } from "./follow-law.ts";
import { Heating } from "./heating.ts";
import { settingOf } from "./loop-rig.ts";
import { type LoopContext, LoopRigs } from "./loop-rigs.ts";
import type { PowerRules } from "./power-permission.ts";
import { maximumActorFor } from "./precedence.ts";
import { type Room, RoomBook } from "./room-book.ts";

export interface LoopsOptions extends Omit<LoopContext, "rooms"> {
  readonly settings: Sections<"heating" | "follow">;
  readonly repeat: Repeat;
}

type Loop = Heating | Follow;

/** ms between two turns. */
export const turnIntervalMs = 5_000;

/** All loops that control the power of rigs automatically. A rig belongs to the first loop that names it. */
export class Loops implements ActionLoops {
  readonly #options: LoopsOptions;
  readonly #rigs: LoopRigs;
  readonly rooms: RoomBook;
  readonly #context: LoopContext;
  #all: readonly Loop[] = [];
  readonly #turning = new Map<Loop, Promise<void>>();
  #members: ReadonlyMap<Loop, readonly Entry[]> = new Map();
  #loopOf: ReadonlyMap<number, Loop> = new Map();
  /** The displayed loop status of each miner, without times. */
  readonly #published = new Map<number, string>();
  #stop: () => void = () => undefined;

  constructor(options: LoopsOptions) {
    this.#options = options;
    this.rooms = new RoomBook(options);
    this.#context = { ...options, rooms: this.rooms };
    this.#rigs = new LoopRigs(this.#context);
    this.#all = this.#opened();
  }

  /** Applies changed settings: a loop with unchanged settings continues, a removed one leaves its rigs as they are. */
  async renew(): Promise<void> {
    const before = this.#all;
    this.#all = this.#opened();
    const ended = before.filter((loop) => !this.#all.includes(loop));
    for (const loop of ended) {
      loop.close();
      const { name } = loop.settings;
      if (!this.#all.some(({ settings }) => settings.name === name))
        this.#options.notices.close(`source:${name}`, coded("notices.loop.removed", { loop: name }));
    }
    await Promise.all(ended.map((loop) => this.#turning.get(loop)));
    this.#assign();
    for (const loop of this.#all) this.#publish(loop);
  }

  #opened(): Loop[] {
    const { heating, follow } = this.#options.settings;
    const heatings = this.#all.filter((loop) => loop instanceof Heating);
    const follows = this.#all.filter((loop) => loop instanceof Follow);
    return [
      ...heating.map((each) => continued(heatings, each, () => new Heating(each, this.#rigs, this.#context))),
      ...follow.map((each) => continued(follows, each, () => new Follow(each, this.#rigs, this.#context))),
    ];
  }

  /** Starts the loops; call it once all miners are loaded. */
  start(): void {
    this.#assign();
    for (const loop of this.#all) this.#publish(loop);
    this.#stop = this.#options.repeat(() => this.turn(), turnIntervalMs);
  }

  /** One turn of every loop whose last turn has ended. Never rejects. */
  async turn(): Promise<void> {
    this.#assign();
    await Promise.all(this.rooms.all().map((room) => this.holdMaximum(room)));
    await Promise.all(this.#all.map((loop) => this.#turning.get(loop) ?? this.#turn(loop)));
  }

  /** The present rooms. */
  roomsNow(): readonly Room[] {
    this.#assign();
    return this.rooms.all();
  }

  /** The loop that a miner belongs to. */
  loopOf(minerId: number): Loop | undefined {
    return this.#loopOf.get(minerId);
  }

  /** Whether its loop leaves a rig alone now. */
  isHeld(entry: Entry): boolean {
    const loop = this.#loopOf.get(entry.facts.id);
    return loop instanceof Heating ? loop.isHeld(entry) : this.#rigs.isHeld(entry);
  }

  /** The rigs among these that can be set now, no matter what controls their power. */
  rigsOf(minerIds: readonly number[]): Follower[] {
    return this.#rigs.overruled(minerIds.flatMap((id) => this.#options.registry.find(id) ?? []));
  }

  /** Lowers the rigs of a room that are set above its limit. Never rejects. */
  async holdMaximum(room: Room): Promise<void> {
    if (room.max === null) return;
    const { notices, log } = this.#options;
    const { watts } = room.max;
    const key = `room-maximum:${room.key}`;
    const rigs = this.rigsOf(this.rooms.heldBy(room));
    const taken = rigs.reduce((sum, rig) => sum + settingOf(rig), 0);
    if (taken <= watts + roundingWatts)
      return notices.close(key, coded("notices.roomMaximum.over", { room: room.name }));
    const settings = new Map(rigs.map((rig) => [rig.id, settingOf(rig)]));
    const limits = { now: watts, steady: Number.NEGATIVE_INFINITY };
    const demands = share(rigs, limits).filter((demand) => demand.watts < (settings.get(demand.id) ?? 0));
    if (demands.length === 0) {
      const set = { room: room.name, watts: Math.round(taken), maximum: watts };
      const message = coded("notices.roomMaximum.message", set);
      if (rigs.every(({ free }) => free))
        notices.raise({ key, minerId: null, title: room.name, source: "System", message, severity: "warning" });
      return;
    }
    await this.#rigs
      .apply(room.name, demands, rigs, maximumActorFor(room.name))
      .catch((error: unknown) => log.error({ err: error }, `the maximum of ${room.name} failed`));
  }

  onCommand(command: StoredCommand): void {
    this.#rigs.onCommand(command);
    const loop = this.#loopOf.get(command.minerId);
    if (loop !== undefined) this.#publish(loop);
  }

  /**
   * Passes an action to the loop of a miner; resolves with the result. Throws `not.possible` if the miner has no such
   * loop, `user.forbidden` if the loop has miners hidden from this access, and `input.invalid`.
   */
  async take(action: Action, minerId: number, access: Access): Promise<string> {
    const loop = this.addressed(action, minerId, access);
    const { temperature = 0, surplus = 0 } = action;
    let message: string;
    if (loop instanceof Follow) message = loop.takeSurplus(surplus);
    else
      message =
        action.action === "set_room_temperature" ? loop.takeRoom(temperature) : await loop.setTarget(temperature);
    this.#publish(loop);
    return message;
  }

  /** The loop for an action. Throws like `take`. */
  addressed({ action }: Action, minerId: number, access: Access): Loop {
    this.#assign();
    const loop = this.#loopOf.get(minerId);
    const isSolar = action === "set_surplus";
    if (loop === undefined || loop instanceof Follow !== isSolar)
      throw new RigbridgeError("not.possible", detail(isSolar ? "command.noFollow" : "command.noHeating"));
    const members = this.#members.get(loop) ?? [];
    if (members.some(({ facts }) => !access.seesGroup(facts.groupId)))
      throw new RigbridgeError("user.forbidden", detail("rights.loop", { loop: loop.settings.name }));
    return loop;
  }

  /** Resolves when the present turns have ended. */
  async settled(): Promise<void> {
    await Promise.all(this.#turning.values());
  }

  /** Ends all turns; the executor ends running commands. */
  async close(): Promise<void> {
    this.#stop();
    for (const loop of this.#all) loop.close();
    this.#rigs.close();
    await this.settled();
  }

  #turn(loop: Loop): Promise<void> {
    const members = this.#members.get(loop) ?? [];
    const turning = this.#options.holds
      .load(members)
      .then(() => loop.turn(members))
      .then(() => this.#publish(loop))
      .catch((error: unknown) => this.#options.log.error({ err: error }, `the loop ${loop.settings.name} failed`))
      .finally(() => this.#turning.delete(loop));
    this.#turning.set(loop, turning);
    return turning;
  }

  /** Reassigns miners to loops after changes of miners and groups. */
  #assign(): void {
    const members = new Map<Loop, readonly Entry[]>();
    const loopOf = new Map<number, Loop>();
    for (const loop of this.#all) {
      const named = this.#named(loop).filter(({ facts }) => !loopOf.has(facts.id));
      for (const { facts } of named) loopOf.set(facts.id, loop);
      members.set(loop, named);
    }
    for (const id of this.#loopOf.keys()) {
      if (loopOf.has(id)) continue;
      this.#options.registry.display.setLoopStatus(id, null, true);
      this.#published.delete(id);
    }
    this.#members = members;
    this.#loopOf = loopOf;
    this.rooms.assign(members);
    this.#options.power.setLoopRules(new Map([...loopOf].map(([id, { settings }]) => [id, rulesIn(settings)])));
  }

  #named(loop: Loop): Entry[] {
    const entries = [...this.#options.registry.all()];
    if (loop instanceof Follow) return inOrder(this.#inGroup(loop.settings.group, entries), loop.settings.order);
    const { group, miner = "" } = loop.settings;
    return group === undefined ? entries.filter((entry) => isCalled(entry, miner)) : this.#inGroup(group, entries);
  }

  #inGroup(name: string, entries: readonly Entry[]): Entry[] {
    const groups = enabled(this.#options.store.groups);
    const called = groups.filter((group) => group.name === name);
    const ofFile = called.filter(({ owner }) => owner === "file");
    const named = (ofFile.length > 0 ? ofFile : called).map(({ id }) => id);
    const ids = withInnerGroups(named, groups);
    return entries.filter(({ facts }) => ids.has(facts.groupId));
  }

  /** Sets the status that its miners show; passing time alone is not a change. */
  #publish(loop: Loop): void {
    const heating = loop instanceof Heating ? loop.status : null;
    const shared = heating === null ? "" : JSON.stringify({ ...heating, at: null });
    for (const entry of this.#members.get(loop) ?? []) {
      const { id } = entry.facts;
      const held = loop instanceof Heating && loop.isHeld(entry);
      const stoppedBy = this.#rigs.isStoppedByLoop(id) ? loop.settings.name : null;
      const published = `${shared} ${held} ${stoppedBy}`;
      const changed = (this.#published.get(id) ?? nothingPublished) !== published;
      this.#published.set(id, published);
      const status = { heating: heating && { ...heating, held }, stoppedBy, loop: loop.settings.name };
      this.#options.registry.display.setLoopStatus(id, status, changed);
    }
  }
}

/** The loop with the same settings, or a new one that takes over the state of its predecessor by name. */
function continued<L extends { readonly settings: { readonly name: string }; resume(before: L): void }>(
  all: readonly L[],
  settings: L["settings"],
  open: () => L,
): L {
  const before = all.find((loop) => loop.settings.name === settings.name);
  if (before !== undefined && isDeepStrictEqual(before.settings, settings)) return before;
  const loop = open();
  if (before !== undefined) loop.resume(before);
  return loop;
}

/** W; settings are not whole numbers. */
const roundingWatts = 0.5;

/** For a miner whose loop shows nothing. */
const nothingPublished = " false null";

const rulesIn = ({ minOn, minOff }: Loop["settings"]): Partial<PowerRules> => ({
  ...(minOn === undefined ? {} : { minOn }),
  ...(minOff === undefined ? {} : { minOff }),
});

const isCalled = ({ facts, rig }: Entry, name: string): boolean =>
  facts.name === name || rig.state.uid === name || rig.declared.uid === name;

/** Named miners first, in the order of the names, then the others. */
function inOrder(entries: readonly Entry[], order: readonly string[] = []): Entry[] {
  const place = (entry: Entry): number => {
    const index = order.findIndex((name) => isCalled(entry, name));
    return index < 0 ? order.length : index;
  };
  return entries.toSorted((a, b) => place(a) - place(b));
}
