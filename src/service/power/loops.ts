import type { FollowSettings, HeatingSettings } from "../../config/loops.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import type { Heating as ShownHeating } from "../../contract/resources.ts";
import type { StoredCommand } from "../../store/index.ts";
import type { Action } from "../commands/actions.ts";
import type { Entry } from "../miners/miner-registry.ts";
import { present } from "../stored.ts";
import type { Access } from "../users/access.ts";
import { Follow } from "./follow.ts";
import { Heating } from "./heating.ts";
import { type LoopContext, LoopRigs } from "./loop-rigs.ts";
import type { PowerRules } from "./power-targets.ts";

/** Calls work every so many ms, and ends with what it gives back; as `setInterval`. */
export type Repeat = (work: () => Promise<void>, ms: number) => () => void;

export const byTimer: Repeat = (work, ms) => {
  const timer = setInterval(work, ms);
  return () => clearInterval(timer);
};

export interface LoopsOptions extends LoopContext {
  readonly heating: readonly HeatingSettings[];
  readonly follow: readonly FollowSettings[];
  readonly repeat: Repeat;
}

type Loop = Heating | Follow;

/** ms between two turns. */
const turnEvery = 5_000;

/** Whether an action says something to a loop, and nothing to a rig. */
export const isForLoop = (action: Action["action"]): boolean =>
  action === "set_room_temperature" || action === "set_target_temperature" || action === "set_surplus";

/** Everything that steers the power of rigs by itself. A rig belongs to one loop: the first that names it. */
export class Loops {
  readonly #options: LoopsOptions;
  readonly #rigs: LoopRigs;
  readonly #closing = new AbortController();
  readonly #all: readonly Loop[];
  readonly #turning = new Map<Loop, Promise<void>>();
  #members: ReadonlyMap<Loop, readonly Entry[]> = new Map();
  #loopOf: ReadonlyMap<number, Loop> = new Map();
  readonly #shown = new Map<Loop, string>();
  /** Which loop each miner was last shown to be stopped by. */
  readonly #stopped = new Map<number, string | null>();
  #stop: () => void = () => undefined;

  constructor(options: LoopsOptions) {
    this.#options = options;
    this.#rigs = new LoopRigs(options);
    const { signal } = this.#closing;
    this.#all = [
      ...options.heating.map((settings) => new Heating(settings, this.#rigs, options, signal)),
      ...options.follow.map((settings) => new Follow(settings, this.#rigs, options, signal)),
    ];
  }

  /** Begins to turn; call once all miners are there. */
  start(): void {
    if (this.#all.length === 0) return;
    this.#assign();
    for (const loop of this.#all) this.#show(loop);
    this.#stop = this.#options.repeat(() => this.turn(), turnEvery);
  }

  /** One turn of every loop that is not still at its last. Never rejects. */
  async turn(): Promise<void> {
    this.#assign();
    await Promise.all(this.#all.map((loop) => this.#turning.get(loop) ?? this.#turn(loop)));
  }

  heard(command: StoredCommand): void {
    this.#rigs.heard(command);
    const loop = this.#loopOf.get(command.minerId);
    if (loop !== undefined) this.#show(loop);
  }

  /** The room that a miner heats, for its presentation. */
  heatingOf(minerId: number): ShownHeating | null {
    const loop = this.#loopOf.get(minerId);
    if (!(loop instanceof Heating)) return null;
    const entry = this.#members.get(loop)?.find(({ facts }) => facts.id === minerId);
    return { ...loop.shown, held: entry !== undefined && loop.holdsOff(entry) };
  }

  /** The loop that has stopped a miner, as people call it. */
  stoppedBy(minerId: number): string | null {
    const loop = this.#loopOf.get(minerId);
    return loop !== undefined && this.#rigs.isStoppedByLoop(minerId) ? loop.settings.name : null;
  }

  /** What its loop spares a rig, before what is said for all. */
  rulesOf(minerId: number): Partial<PowerRules> {
    const { minOn, minOff } = this.#loopOf.get(minerId)?.settings ?? {};
    return { ...(minOn === undefined ? {} : { minOn }), ...(minOff === undefined ? {} : { minOff }) };
  }

  /**
   * Takes what is said to the loop of a miner; resolves with what came of it. Throws `not.possible` when the miner has
   * no such loop, `user.forbidden` when it steers miners that these eyes do not see, and `input.invalid`.
   */
  async take(action: Action, minerId: number, access: Access): Promise<string> {
    const loop = this.addressed(action, minerId, access);
    const { temperature = 0, surplus = 0 } = action;
    let said: string;
    if (loop instanceof Follow) said = loop.takeSurplus(surplus);
    else
      said = action.action === "set_room_temperature" ? loop.takeRoom(temperature) : await loop.setTarget(temperature);
    this.#show(loop);
    return said;
  }

  /** The loop that an action is for. Throws as `take`. */
  addressed({ action }: Action, minerId: number, access: Access): Loop {
    this.#assign();
    const loop = this.#loopOf.get(minerId);
    const isSolar = action === "set_surplus";
    if (loop === undefined || loop instanceof Follow !== isSolar)
      throw new RigbridgeError("not.possible", isSolar ? "This miner follows no surplus" : "This miner heats no room");
    const members = this.#members.get(loop) ?? [];
    if (members.some(({ facts }) => !access.seesGroup(facts.groupId)))
      throw new RigbridgeError("user.forbidden", `${loop.settings.name} steers miners that this user does not see`);
    return loop;
  }

  /** Ends all turns; what is under way with a rig ends with the steering. */
  async close(): Promise<void> {
    this.#stop();
    this.#closing.abort();
    this.#rigs.close();
    await Promise.all(this.#turning.values());
  }

  #turn(loop: Loop): Promise<void> {
    const members = this.#members.get(loop) ?? [];
    const turning = this.#rigs
      .learn(members)
      .then(() => loop.turn(members))
      .then(() => this.#show(loop))
      .catch((error: unknown) => this.#options.log.error({ err: error }, `the loop ${loop.settings.name} failed`))
      .finally(() => this.#turning.delete(loop));
    this.#turning.set(loop, turning);
    return turning;
  }

  /** Miners come and go, and groups with them. */
  #assign(): void {
    const members = new Map<Loop, readonly Entry[]>();
    const loopOf = new Map<number, Loop>();
    for (const loop of this.#all) {
      const named = this.#named(loop).filter(({ facts }) => !loopOf.has(facts.id));
      for (const { facts } of named) loopOf.set(facts.id, loop);
      members.set(loop, named);
    }
    this.#members = members;
    this.#loopOf = loopOf;
  }

  #named(loop: Loop): Entry[] {
    const entries = [...this.#options.registry.all()];
    if (loop instanceof Follow) return inOrder(this.#inGroup(loop.settings.group, entries), loop.settings.order);
    const { group, miner = "" } = loop.settings;
    return group === undefined ? entries.filter((entry) => isCalled(entry, miner)) : this.#inGroup(group, entries);
  }

  #inGroup(name: string, entries: readonly Entry[]): Entry[] {
    const groups = present(this.#options.store.groups);
    const ids = new Set(groups.flatMap((group) => (group.owner === "file" && group.name === name ? [group.id] : [])));
    for (let size = 0; size !== ids.size; ) {
      size = ids.size;
      for (const { id, parentId } of groups) if (ids.has(parentId)) ids.add(id);
    }
    return entries.filter(({ facts }) => ids.has(facts.groupId));
  }

  /** Presents its miners anew when what they show of it is another; passing time alone is no change. */
  #show(loop: Loop): void {
    for (const { facts } of this.#members.get(loop) ?? []) {
      const by = this.stoppedBy(facts.id);
      if ((this.#stopped.get(facts.id) ?? null) === by) continue;
      this.#stopped.set(facts.id, by);
      this.#options.registry.refresh(facts.id);
    }
    if (!(loop instanceof Heating)) return;
    const { target, room, demand } = loop.shown;
    const members = this.#members.get(loop) ?? [];
    const held = members.map((entry) => [entry.facts.id, loop.holdsOff(entry)]);
    const shown = JSON.stringify([target, room, demand, held]);
    if (this.#shown.get(loop) === shown) return;
    this.#shown.set(loop, shown);
    for (const { facts } of members) this.#options.registry.refresh(facts.id);
  }
}

const isCalled = ({ facts, rig }: Entry, name: string): boolean =>
  facts.name === name || rig.state.uid === name || rig.declared.uid === name;

/** Those that are named first, as they are named; the others behind them. */
function inOrder(entries: readonly Entry[], order: readonly string[] = []): Entry[] {
  const place = (entry: Entry): number => {
    const index = order.findIndex((name) => isCalled(entry, name));
    return index < 0 ? order.length : index;
  };
  return entries.toSorted((a, b) => place(a) - place(b));
}
