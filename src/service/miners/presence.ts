import type { Logger } from "pino";
import type { PolledRig } from "../../fleet/poller.ts";
import { missesUntilDisconnected } from "../../fleet/schedule.ts";
import { briefOf, type RigState } from "../../fleet/state.ts";
import { coded } from "../../messages/coded.ts";
import type { CodedText } from "../../messages/coded-text.ts";
import type { Store, StoredNotification } from "../../store/index.ts";
import type { FarmNotices } from "../notifications/notices.ts";
import type { Access } from "../users/access.ts";
import { minerFields } from "./declared-miner.ts";
import type { Entry, MinerEntries } from "./miner-entries.ts";
import { noticeKeys } from "./miner-notices.ts";
import { Outages } from "./outages.ts";
import { loginTrouble } from "./present-miner.ts";

interface PresenceOptions {
  readonly entries: Pick<MinerEntries, "all" | "find" | "visible">;
  readonly store: Pick<Store, "groups" | "notifications">;
  readonly notices: Pick<FarmNotices, "raise" | "close" | "closeMiner">;
  readonly now: () => number;
  readonly log: Logger;
}

/** Tracks which miners answer, and logs and notifies of those that cannot be reached or read. */
export class MinerPresence {
  readonly outages: Outages;
  readonly #options: PresenceOptions;
  /** Rigs logged as unreachable. */
  readonly #unreachable = new Set<number>();
  /** The code of the title of the notification about a rig's login, until the login is right. */
  readonly #loginNotified = new Map<number, string>();

  constructor(options: PresenceOptions) {
    this.#options = options;
    const { entries, store, notices, now } = options;
    this.outages = new Outages({
      entries: () => entries.all(),
      store,
      notices,
      now,
      reportAbsence: ({ rig }) => this.#raiseAbsence(rig),
    });
  }

  /** Restores the open notifications of the last run; call it once all miners are loaded. */
  start(): void {
    const { entries, store, notices } = this.#options;
    for (const { minerId, key, coded: words, closed } of store.notifications.list()) {
      if (minerId === null || closed !== null) continue;
      if (entries.find(minerId) === undefined) notices.closeMiner(minerId, "The miner is no longer declared");
      const title = words?.title?.code;
      if (title !== undefined && key === noticeKeys.login(minerId)) this.#loginNotified.set(minerId, title);
    }
    this.outages.start();
  }

  /** Users see the notifications of their miners, and those of these miners' sites and groups. */
  seesNotification({ minerId, key }: Pick<StoredNotification, "minerId" | "key">, access: Access): boolean {
    return minerId === null
      ? this.outages.isVisible(key, access)
      : this.#options.entries.visible(minerId, access) !== undefined;
  }

  /** The miner has a new connection or was removed. */
  forget(id: number): void {
    this.#unreachable.delete(id);
    this.#loginNotified.delete(id);
  }

  /** A read has ended, with or without an answer. */
  read(entry: Entry, before: RigState): void {
    const { rig, facts } = entry;
    const answers = rig.state.missed === 0;
    // A notification from before a restart is closed by the first read.
    const isBack = answers && (before.missed > 0 || before.at === null);
    if (answers && this.#unreachable.delete(rig.id))
      this.#options.log.info({ ...minerFields(facts) }, "a miner is back");
    if (answers && briefOf(rig.state) !== null) {
      this.#notifyLogin(entry);
      if (isBack) this.#closeAbsence(rig.id);
    }
    this.outages.read(entry, isBack);
  }

  /** A rig that was already off before a restart has its notification. */
  disconnected(rig: PolledRig, isKnown: boolean): void {
    const entry = this.#options.entries.find(rig.id);
    const { trouble } = rig.state;
    const reason = trouble?.message;
    if (entry !== undefined)
      this.#options.log.info({ ...minerFields(entry.facts), reason }, "a miner cannot be reached");
    this.#unreachable.add(rig.id);
    if (rig.declared.offlineExpected || (entry?.facts.repair ?? null) !== null) return;
    if (trouble !== null && trouble.quoted !== trouble.message)
      this.#options.log.info(`Miner ${rig.id} cannot be read: ${trouble.quoted}`);
    if (entry !== undefined && trouble?.code === "rig.login") this.#notifyLogin(entry);
    else if (!isKnown) {
      if (entry !== undefined) this.outages.gone(entry);
      this.#raiseAbsence(rig);
    }
  }

  /** Its repair has begun: what was reported of it is over. */
  repairBegan(id: number): void {
    this.#loginNotified.delete(id);
    this.#options.notices.closeMiner(id, coded("notices.repair"));
  }

  /** Its repair is over: that it is off is reported, as of any other rig; the next read reports the rest. */
  repairEnded(entry: Entry): void {
    const { rig } = entry;
    if (rig.declared.offlineExpected || rig.state.missed < missesUntilDisconnected) return;
    if (rig.state.trouble?.code === "rig.login") this.#notifyLogin(entry);
    else this.#raiseAbsence(rig);
  }

  #raiseAbsence(rig: Pick<PolledRig, "id" | "state">): void {
    const { trouble } = rig.state;
    const message = coded("notices.disconnected.message", { why: trouble?.coded ?? trouble?.message ?? "" });
    this.#raise(noticeKeys.disconnected(rig.id), rig, coded("notices.disconnected.title"), message);
  }

  /** Notifies once until the login is right. */
  #notifyLogin({ facts, rig }: Entry): void {
    const trouble = loginTrouble(rig.state);
    if (trouble === null) {
      if (this.#loginNotified.delete(rig.id))
        this.#options.notices.close(noticeKeys.login(rig.id), coded("notices.login.over"));
      return;
    }
    if (facts.repair !== null) return;
    const { title, message } = trouble;
    if (this.#loginNotified.get(rig.id) === title.code) return;
    this.#loginNotified.set(rig.id, title.code);
    if (facts.demo) return;
    this.#options.log.info({ ...minerFields(facts), reason: message }, "the login of a miner is missing or wrong");
    this.#raise(noticeKeys.login(rig.id), rig, title, message);
  }

  #closeAbsence(id: number): void {
    this.#options.notices.close(noticeKeys.disconnected(id), coded("notices.disconnected.over"));
    this.#options.notices.close(noticeKeys.refused(id), coded("notices.refused.over"));
  }

  refused(rig: PolledRig, message: string): void {
    const facts = this.#options.entries.find(rig.id)?.facts;
    if (facts !== undefined)
      this.#options.log.info({ ...minerFields(facts), reason: message }, "the rig at a miner's address was refused");
    this.#raise(noticeKeys.refused(rig.id), rig, coded("notices.refused.title"), rig.state.trouble?.coded ?? message);
  }

  #raise(key: string, { id: minerId }: Pick<PolledRig, "id">, title: CodedText, message: string | CodedText): void {
    this.#options.notices.raise({ key, minerId, title, source: "System", message, severity: "warning" });
  }
}
