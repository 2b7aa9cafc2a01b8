import { notFound } from "../../contract/problems.ts";
import type { PolledRig } from "../../fleet/poller.ts";
import type { Detail } from "../../messages/coded-text.ts";
import { detail } from "../../messages/detail.ts";
import type { NoticeMiner } from "../notifications/notices.ts";
import type { Access } from "../users/access.ts";
import { isDemo } from "./declared-miner.ts";
import type { MinerFacts } from "./present-miner.ts";

export interface Entry {
  readonly facts: MinerFacts;
  readonly rig: PolledRig;
}

/** All miners: their declarations, and their rigs in the fleet. */
export class MinerEntries {
  protected readonly entries = new Map<number, Entry>();

  /** Throws `not.found`. */
  entry(id: number): Entry {
    const entry = this.entries.get(id);
    if (entry === undefined) throw notFound("miner", id);
    return entry;
  }

  find(id: number): Entry | undefined {
    return this.entries.get(id);
  }

  /** The id of a miner given by id or uid. Throws `not.found`, also if the miner is hidden from this access. */
  idFor(miner: number | string, access: Access): number {
    const id = typeof miner === "number" ? miner : this.idOfUid(miner);
    if (id === undefined) throw notFound("miner", miner);
    return this.entryFor(id, access).facts.id;
  }

  /** The miner; undefined if it does not exist or is hidden from this access. */
  visible(id: number, access: Access): Entry | undefined {
    const entry = this.entries.get(id);
    return entry !== undefined && access.seesGroup(entry.facts.groupId) ? entry : undefined;
  }

  /** Throws `not.found`, also if the miner is hidden from this access. */
  entryFor(id: number, access: Access): Entry {
    const entry = this.visible(id, access);
    if (entry === undefined) throw notFound("miner", id);
    return entry;
  }

  /** Every miner that is visible to this access. */
  *entriesFor(access: Access): Iterable<Entry> {
    for (const entry of this.entries.values()) if (access.seesGroup(entry.facts.groupId)) yield entry;
  }

  /** Every miner. */
  all(): Iterable<Entry> {
    return this.entries.values();
  }

  get size(): number {
    return this.entries.size;
  }

  idOfUid(uid: string): number | undefined {
    for (const { facts, rig } of this.entries.values()) if (rig.state.uid === uid) return facts.id;
    return undefined;
  }

  /** The name of a miner in errors; "another miner" if it is hidden from the caller. */
  nameFor(id: number, access: Access): Detail {
    const visible = this.visible(id, access);
    return visible === undefined ? detail("rig.another") : detail("rig.named", { id, name: visible.facts.name });
  }

  /** Whether there are demo miners and no real one: then rules, schedules and notices are for them. */
  get isDemoOnly(): boolean {
    for (const id of this.entries.keys()) if (!isDemo(id)) return false;
    return this.entries.size > 0;
  }

  /** The description of a miner in notifications. */
  noticeMiner(id: number): NoticeMiner | undefined {
    const entry = this.entries.get(id);
    if (entry === undefined) return undefined;
    const { name, groupId, demo, repair } = entry.facts;
    return { name, groupId, demo, uid: entry.rig.state.uid, inRepair: repair !== null };
  }
}
