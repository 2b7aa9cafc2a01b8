import type { PolledRig } from "../../fleet/poller.ts";
import { missesUntilDisconnected } from "../../fleet/schedule.ts";
import { coded } from "../../messages/coded.ts";
import type { CodedText } from "../../messages/coded-text.ts";
import type { Store } from "../../store/index.ts";
import type { Notices } from "../notifications/notices.ts";
import type { Access } from "../users/access.ts";
import type { MinerFacts } from "./present-miner.ts";

/** An outage of a place means at least this many rigs. */
const fewest = 5;
/** Rigs stop answering together if they were last read within this time, ms. */
const atOnceMs = 600_000;
/** ms for which other rigs are not reported while rigs come back. */
const settleMs = 180_000;
/** Checking a larger place takes long, so it is checked at most once per so many ms as it has rigs. */
const manyRigs = 500;
/** ms between two checks of an open outage, each of which goes over all rigs. */
const lookMs = 5_000;
const prefix = "outage:";

/** A rig with its place. */
interface Placed {
  readonly facts: Pick<MinerFacts, "demo" | "groupId" | "location" | "repair">;
  readonly rig: Pick<PolledRig, "id" | "state" | "declared">;
}

interface OutageOptions {
  readonly entries: () => Iterable<Placed>;
  readonly store: Pick<Store, "groups" | "notifications">;
  readonly notices: Notices;
  /** Reports a rig that is still offline when the outage of its place is over. */
  readonly reportAbsence: (entry: Placed) => void;
  readonly now: () => number;
}

interface Outage {
  /** Epoch ms. */
  readonly since: number;
  returnedAt: number;
  lookedAt: number;
}

/**
 * Outages of sites, groups, or the whole farm: one notification for the place, and none for its rigs until they are back, or
 * it is clear which stay offline.
 */
export class Outages {
  readonly #options: OutageOptions;
  /** By the key of the place. */
  readonly #open = new Map<string, Outage>();
  /** When to check a place with many rigs again, epoch ms, by the key of the place. */
  readonly #notBefore = new Map<string, number>();

  constructor(options: OutageOptions) {
    this.#options = options;
  }

  /** Restores the outages that were open when the service stopped. */
  start(): void {
    const { store, now } = this.#options;
    for (const { key, closed, time } of store.notifications.list())
      if (closed === null && key?.startsWith(prefix))
        this.#open.set(key.slice(prefix.length), { since: time, returnedAt: now(), lookedAt: now() });
  }

  /** Whether the place of this rig has an outage, so that the rig itself is not reported. */
  covers(entry: Placed): boolean {
    return this.#open.size > 0 && this.#placesOf(entry).some((place) => this.#open.has(place));
  }

  /**
   * A rig has stopped answering. Reports the largest place of which half does not answer; the farm only if no other
   * place qualifies.
   */
  gone(entry: Placed): void {
    if (this.covers(entry)) return;
    const { now, notices } = this.#options;
    for (const place of this.#placesOf(entry)) {
      if (now() < (this.#notBefore.get(place) ?? 0)) continue;
      const rigs = this.#rigsAt(place).filter((rig) => !this.covers(rig));
      if (rigs.length > manyRigs) this.#notBefore.set(place, now() + rigs.length);
      const gone = rigs.filter((rig) => isAway(rig) && now() - (rig.rig.state.at ?? 0) <= atOnceMs);
      const answering = rigs.filter((rig) => !isAway(rig));
      if (gone.length < fewest || gone.length < answering.length) continue;
      this.#open.set(place, { since: now(), returnedAt: now(), lookedAt: now() });
      notices.raise({
        key: prefix + place,
        minerId: null,
        source: "System",
        severity: "warning",
        title: this.#titleOf(place),
        message: coded("notices.outage.message", {
          away: grouped(gone.length),
          rigs: grouped(gone.length + answering.length),
        }),
        groups: [...new Set(gone.flatMap((rig) => this.#groupsOf(rig).map((id) => this.#groupName(id))))],
      });
      return;
    }
  }

  /** A rig has been read, or has missed a read; `isBack`: it was offline before. */
  read(entry: Placed, isBack: boolean): void {
    if (this.#open.size === 0) return;
    const now = this.#options.now();
    if (isBack)
      for (const place of this.#placesOf(entry)) {
        const outage = this.#open.get(place);
        if (outage !== undefined) outage.returnedAt = now;
      }
    for (const [place, outage] of this.#open) {
      if (now - outage.lookedAt < lookMs) continue;
      outage.lookedAt = now;
      this.#look(place, outage, now);
    }
  }

  /** The outage has ended when nearly all rigs are back, or when most are and no more return. */
  #look(place: string, { since, returnedAt }: Outage, now: number): void {
    const rigs = this.#rigsAt(place).filter(({ rig: { state } }) => state.at === null || state.at >= since - atOnceMs);
    // After a start, a rig that has not been read yet counts as offline.
    const away = rigs.filter((rig) => isAway(rig) || rig.rig.state.at === null);
    const isOver = away.length * 10 < rigs.length || rigs.length === 0;
    if (!isOver && (away.length * 2 >= rigs.length || now - returnedAt < settleMs)) return;
    this.#open.delete(place);
    const back = { back: grouped(rigs.length - away.length), rigs: grouped(rigs.length) };
    this.#options.notices.close(
      prefix + place,
      away.length === 0 ? coded("notices.outage.allBack", back) : coded("notices.outage.over", back),
    );
    for (const rig of away) if (rig.rig.state.missed >= missesUntilDisconnected) this.#options.reportAbsence(rig);
  }

  /** Whether this access covers miners at the place of a notification. */
  isVisible(key: string | null, access: Access): boolean {
    if (!key?.startsWith(prefix)) return false;
    return this.#rigsAt(key.slice(prefix.length)).some(({ facts }) => access.seesGroup(facts.groupId));
  }

  /** From its site or outermost group to its innermost, and the farm. */
  #placesOf(entry: Placed): string[] {
    const { site } = entry.facts.location;
    const groups = this.#groupsOf(entry).map((id) => `group:${id}`);
    return [...(site === null ? [] : [`site:${site}`]), ...groups.reverse(), "farm"];
  }

  #rigsAt(place: string): Placed[] {
    return [...this.#options.entries()].filter(
      (entry) =>
        entry.facts.repair === null &&
        !entry.rig.declared.disabled &&
        !entry.rig.declared.offlineExpected &&
        this.#placesOf(entry).includes(place),
    );
  }

  /** Ids, the innermost first. */
  #groupsOf({ facts }: Placed): number[] {
    const ids: number[] = [];
    const { groups } = this.#options.store;
    // A chain cannot be longer than the number of groups, so cycles end.
    for (let id = facts.groupId; id !== 0 && ids.length < 100; id = groups.get(id)?.parentId ?? 0) ids.push(id);
    return ids;
  }

  #groupName(id: number): string {
    return this.#options.store.groups.get(id)?.name ?? "";
  }

  #titleOf(place: string): CodedText {
    const [kind = "", ...rest] = place.split(":");
    const name = rest.join(":");
    if (kind === "site") return coded("notices.outage.site", { name });
    if (kind !== "group") return coded("notices.outage.farm");
    return coded("notices.outage.group", { name: this.#groupName(Number(name)) });
  }
}

const isAway = ({ rig: { state } }: Placed): boolean => state.missed > 0;

const grouped = (count: number): string => count.toLocaleString("en-US");
