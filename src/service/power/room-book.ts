import { createHash } from "node:crypto";
import type { HeatingSettings } from "../../config/loops.ts";
import { briefOf } from "../../fleet/state.ts";
import type { Store } from "../../store/index.ts";
import { enabled } from "../crud.ts";
import type { Entry } from "../miners/miner-entries.ts";
import type { MinerRegistry } from "../miners/miner-registry.ts";
import { lineOf } from "../nested-groups.ts";
import type { Follow } from "./follow.ts";
import { Heating } from "./heating.ts";
import type { RoomLeft } from "./loop-rig.ts";
import type { PowerMaxima } from "./maximum-checks.ts";
import { type PowerTargets, presentWatts } from "./power-targets.ts";

/** A heating, a follower, or a group that is a room: everything with a slider or a switch on the family page. */
export interface Room {
  /** Permanent key of the room. */
  readonly key: string;
  readonly name: string;
  /** The group of its rigs; null for a heating of one miner, or a group that does not exist. */
  readonly groupId: number | null;
  /** Null for a group that no loop controls. */
  readonly loop: Heating | Follow | null;
  readonly minerIds: readonly number[];
  readonly max: RoomMax | null;
}

export interface RoomMax {
  /** W. */
  readonly watts: number;
  readonly owner: "file" | "store";
}

interface RoomBookOptions {
  readonly store: Store;
  readonly registry: MinerRegistry;
  readonly power: PowerTargets;
  /** Epoch ms. */
  readonly now: () => number;
}

/** ms for which a requested power counts although no read shows it. */
const grantMs = 60_000;

/** W; settings are not whole numbers. */
const rounding = 1;

/** The rooms with their rigs and limits. The limit of a room applies to the rigs that are in no inner room. */
export class RoomBook implements PowerMaxima {
  readonly #options: RoomBookOptions;
  #rooms: ReadonlyMap<string, Room> = new Map();
  /** The room whose limit applies to a miner. */
  #roomOf: ReadonlyMap<number, string> = new Map();
  #held: ReadonlyMap<string, readonly number[]> = new Map();
  /** W that each rig of a room with a limit is set to, as last read. */
  readonly #taken = new Map<number, number>();
  readonly #granted = new Map<number, { readonly watts: number; readonly at: number }>();

  constructor(options: RoomBookOptions) {
    this.#options = options;
    options.power.useMaxima(this);
  }

  all(): readonly Room[] {
    return [...this.#rooms.values()];
  }

  find(key: string): Room | undefined {
    return this.#rooms.get(key);
  }

  /** Rebuilds the rooms after changes of miners and groups. `members`: the miners of each loop. */
  assign(members: ReadonlyMap<Heating | Follow, readonly Entry[]>): void {
    const { store, registry } = this.#options;
    const groups = enabled(store.groups);
    const named = new Map([...members.keys()].map((loop) => [groupNameOf(loop), loop]));
    const loopOfGroup = new Map(
      groups.flatMap(({ id, owner, name }) => {
        const loop = owner === "file" ? named.get(name) : undefined;
        return loop === undefined ? [] : [[id, loop] as const];
      }),
    );
    const groupOfLoop = new Map([...loopOfGroup].map(([id, loop]) => [loop, id]));
    const marked = new Set(groups.flatMap(({ id, room }) => (room === true ? [id] : [])));
    const loops = [...members].map(([loop, entries]) => ({
      key: this.#keyOf(loop),
      name: loop.settings.name,
      loop,
      groupId: groupOfLoop.get(loop) ?? null,
      minerIds: entries.map(({ facts }) => facts.id),
    }));
    const keyOfLoop = new Map(loops.map(({ loop, key }) => [loop, key]));
    const roomOf = new Map<number, string>();
    for (const { key, minerIds, loop } of loops)
      if (loop instanceof Heating) for (const id of minerIds) roomOf.set(id, key);
    const keyOfGroup = new Map<number, string | undefined>();
    const markedKey = (groupId: number): string | undefined => {
      const inner = lineOf(groupId, store.groups).find((id) => marked.has(id));
      const loop = inner === undefined ? undefined : loopOfGroup.get(inner);
      return inner === undefined ? undefined : loop === undefined ? groupKey(inner) : keyOfLoop.get(loop);
    };
    if (marked.size > 0)
      for (const { facts } of registry.all()) {
        if (!keyOfGroup.has(facts.groupId)) keyOfGroup.set(facts.groupId, markedKey(facts.groupId));
        const key = keyOfGroup.get(facts.groupId);
        if (key !== undefined && !roomOf.has(facts.id)) roomOf.set(facts.id, key);
      }
    for (const { key, minerIds } of loops) for (const id of minerIds) if (!roomOf.has(id)) roomOf.set(id, key);
    const held = new Map<string, number[]>();
    for (const [id, key] of roomOf) {
      const ids = held.get(key) ?? [];
      held.set(key, ids);
      ids.push(id);
    }
    const ofGroups = groups
      .filter(({ id }) => marked.has(id) && !loopOfGroup.has(id))
      .map(({ id, name }) => ({
        key: groupKey(id),
        name,
        loop: null,
        groupId: id,
        minerIds: held.get(groupKey(id)) ?? [],
      }));
    this.#roomOf = roomOf;
    this.#held = held;
    this.#rooms = new Map([...loops, ...ofGroups].map((room) => [room.key, { ...room, max: this.#maxOf(room) }]));
    for (const id of this.#taken.keys()) if (this.ofRoom(id) === null) this.#taken.delete(id);
  }

  /** The miners that the limit of a room applies to. */
  heldBy({ key }: Room): readonly number[] {
    return this.#held.get(key) ?? [];
  }

  /** Stores the limit of a room, W; null removes it. */
  async setMax({ key }: Room, watts: number | null): Promise<void> {
    const { roomMaxima } = this.#options.store;
    const row = roomMaxima.all().find(({ room }) => room === key);
    if (watts === null && row !== undefined) await roomMaxima.remove(row.id);
    else if (watts !== null && row === undefined) await roomMaxima.add({ room: key, max: watts });
    else if (watts !== null && row !== undefined) await roomMaxima.change(row.id, { max: watts });
    this.#rooms = new Map(this.all().map((room) => [room.key, { ...room, max: this.#maxOf(room) }]));
  }

  ofRoom(minerId: number): { readonly room: string; readonly watts: number } | null {
    const room = this.#roomWithMax(minerId);
    return room === undefined ? null : { room: room.name, watts: room.max.watts };
  }

  leftFor(minerId: number): number | null {
    const room = this.#roomWithMax(minerId);
    return room === undefined ? null : room.max.watts - this.#takenIn(room, new Set([minerId]));
  }

  /** The power that the rigs of a miner's room among these may take together; null without a limit. */
  leftAmong(ids: ReadonlySet<number>): (minerId: number) => RoomLeft | null {
    const known = new Map<string, RoomLeft>();
    return (minerId) => {
      const room = this.#roomWithMax(minerId);
      if (room === undefined) return null;
      const left = known.get(room.key) ?? { key: room.key, watts: room.max.watts - this.#takenIn(room, ids) };
      known.set(room.key, left);
      return left;
    };
  }

  grant(minerId: number, watts: number): void {
    if (this.#roomWithMax(minerId) !== undefined) this.#granted.set(minerId, { watts, at: this.#options.now() });
  }

  observe(minerId: number, watts: number): void {
    if (this.#roomWithMax(minerId) === undefined) return;
    this.#taken.set(minerId, watts);
    if (watts >= (this.#granted.get(minerId)?.watts ?? 0) - rounding) this.#granted.delete(minerId);
  }

  /** W that the other rigs of a room take. */
  #takenIn(room: Room, but: ReadonlySet<number>): number {
    let sum = 0;
    for (const id of this.heldBy(room)) if (!but.has(id)) sum += this.#takenBy(id);
    return sum;
  }

  /** A rig that cannot be reached counts as drawing nothing. */
  #takenBy(minerId: number): number {
    const { registry, power, now } = this.#options;
    const state = registry.find(minerId)?.rig.state;
    const brief = state === undefined ? null : briefOf(state);
    if (state === undefined || brief === null) return 0;
    const known =
      this.#taken.get(minerId) ??
      presentWatts(power.ladder(minerId, { controls: state.controls, reading: brief }), brief);
    const granted = this.#granted.get(minerId);
    return granted !== undefined && now() < granted.at + grantMs ? Math.max(known, granted.watts) : known;
  }

  #roomWithMax(minerId: number): (Room & { readonly max: RoomMax }) | undefined {
    const key = this.#roomOf.get(minerId);
    const room = key === undefined ? undefined : this.#rooms.get(key);
    return room === undefined || room.max === null ? undefined : { ...room, max: room.max };
  }

  #keyOf(loop: Heating | Follow): string {
    if (loop instanceof Heating) return `heating-${loop.id}`;
    return `follow-${createHash("sha256").update(loop.settings.name).digest("hex").slice(0, 8)}`;
  }

  /** The file takes precedence over the API, and the key of a heating over that of its group. */
  #maxOf({ key, groupId, loop }: Omit<Room, "max">): RoomMax | null {
    const { groups, roomMaxima } = this.#options.store;
    const ofHeating = loop instanceof Heating ? loop.settings.max : undefined;
    const declared = ofHeating ?? (groupId === null ? undefined : groups.get(groupId)?.max);
    if (declared !== undefined) return { watts: declared, owner: "file" };
    const stored = roomMaxima.all().find(({ room }) => room === key);
    return stored === undefined ? null : { watts: stored.max, owner: "store" };
  }
}

const groupKey = (id: number): string => `group-${id}`;

const groupNameOf = ({ settings }: { readonly settings: Pick<HeatingSettings, "group"> }): string | undefined =>
  settings.group;
