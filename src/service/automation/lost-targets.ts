import type { OperationName } from "../../contract/operations.ts";
import { coded } from "../../messages/coded.ts";
import type { Store } from "../../store/index.ts";
import { linkKey } from "../links.ts";
import type { ChannelBook } from "../notifications/channel-book.ts";
import type { Notices } from "../notifications/notices.ts";
import type { AccessBook } from "../users/access.ts";
import { type MadeList, madeLists } from "./made-lists.ts";
import { accessOfMaker } from "./rights.ts";
import { namesIn, type StepTargets, words } from "./step-targets.ts";

interface LostTargetsOptions {
  readonly store: Store;
  readonly accessBook: AccessBook;
  readonly targets: StepTargets;
  readonly channels: ChannelBook;
  readonly notices: Notices;
}

/** Operations after which a step may have lost or regained its target. */
const changing: ReadonlySet<string> = new Set<OperationName>([
  ...(["addRule", "changeRule", "deleteRule", "addSchedule", "changeSchedule", "deleteSchedule"] as const),
  ...(["saveManagedTemplate", "deleteManagedTemplate", "savePool", "deletePool"] as const),
  ...(["savePoolGroup", "deletePoolGroup", "addChannel", "changeChannel", "deleteChannel"] as const),
  ...(["replaceOwned", "releaseOwned"] as const),
  ...(["saveUser", "deleteUser", "addGroup", "changeGroup", "deleteGroup"] as const),
]);
export const changesTargets = (name: OperationName): boolean => changing.has(name);

/** The end of a notice's key; stored, so it never changes. */
const keyEnd = ":targets";

/**
 * Notices of steps whose target was removed, or is no longer available to their creator: one per rule, schedule and
 * template.
 */
export class LostTargets {
  readonly #options: LostTargetsOptions;
  /** The messages of the open notices by key; "": from before the last start. */
  readonly #open = new Map<string, string>();

  constructor(options: LostTargetsOptions) {
    this.#options = options;
    for (const { key, closed } of options.store.notifications.list())
      if (key?.endsWith(keyEnd) === true && closed === null) this.#open.set(key, "");
  }

  /** Resolves the names stored by earlier versions, so that they keep their meaning. */
  async link(): Promise<void> {
    const { store, accessBook, targets } = this.#options;
    for (const { kind, row, lists } of madeLists(store)) {
      const isDone = row.owner === "file" || row.links !== undefined || namesIn(lists).length === 0;
      if (isDone || accessOfMaker(row, accessBook) === null) continue;
      const { links } = targets.resolve(lists, row);
      if (kind === "rule") await store.rules.change(row.id, { links });
      else if (kind === "schedule") await store.schedules.change(row.id, { links });
      else await store.templates.change(row.id, { links });
    }
  }

  /** Call it whenever the target of a step may have been removed or restored. */
  report(): void {
    const { store, accessBook, channels, notices } = this.#options;
    const gone = new Set(this.#open.keys());
    for (const list of madeLists(store)) {
      const [first, ...others] = list.isOff ? [] : this.#losses(list);
      if (first === undefined) continue;
      const { kind, row } = list;
      const key = `${kind}:${row.id}${keyEnd}`;
      const message = others.length === 0 ? first : `${first} (and ${others.length} more)`;
      gone.delete(key);
      if (this.#open.get(key) === message) continue;
      this.#open.set(key, message);
      // The message contains names chosen by the creator, so it goes only where the creator may send texts.
      const sentTo = channels.reachedBy(accessOfMaker(row, accessBook));
      const about = { key, minerId: null, title: row.name, message, channels: sentTo } as const;
      notices.raise({ ...about, source: "Rules", severity: "warning" });
    }
    for (const key of gone) {
      this.#open.delete(key);
      notices.close(key, coded("notices.rules.targets"));
    }
  }

  #losses({ kind, row, lists }: MadeList): string[] {
    const { accessBook, targets, channels } = this.#options;
    const access = accessOfMaker(row, accessBook);
    // The list is disabled, which has its own notice.
    if (access === null) return [];
    const what = `${kind} ${row.name}`;
    const ofNames = namesIn(lists).flatMap((named) => {
      const id = row.owner === "file" ? targets.idOf(row, named) : (row.links?.[linkKey(named)] ?? 0);
      const loss = targets.lossOf({ ...named, id }, row);
      const effect = named.kind === "inhibitor" ? "nothing holds it instead" : "that step does nothing";
      return loss === null ? [] : [`The ${what} names the ${words[named.kind]} ${named.name}, ${loss}; ${effect}`];
    });
    const steps = [lists.do, lists.onClear, lists.onGiveUp, lists.onEnd].flatMap((each) => each ?? []);
    const keys = new Set(steps.flatMap((step) => ("notify" in step && step.notify !== "all" ? [step.notify] : [])));
    const used = new Set(channels.used().map(({ key }) => key));
    const usable = channels.usableBy(access);
    const ofChannels = [...keys].flatMap((key) => {
      if (!used.has(key))
        return [`The ${what} names the channel ${key}, which no longer exists; that step does nothing`];
      if (usable.has(key)) return [];
      const advice = `Change the ${kind}, or share the channel (sharedWith)`;
      return [`The user who made the ${what} may not use the channel ${key}; that step does nothing. ${advice}`];
    });
    return [...ofNames, ...ofChannels];
  }
}
