import type { Logger } from "pino";
import type { RowEvent } from "../contract/events.ts";
import type { MinerRow } from "../contract/rows.ts";
import { numberAt } from "../contract/site-numbers.ts";
import { coded } from "../messages/coded.ts";
import type { CodedText } from "../messages/coded-text.ts";
import type { Events } from "../service/events/events.ts";
import type { RunningService } from "../service/index.ts";
import type { Definitions } from "./definitions.ts";
import { numbersAt } from "./jobs.ts";
import type { Place } from "./lost-answers.ts";
import type { CentreRows } from "./rows.ts";
import type { Site, SiteListener } from "./site.ts";
import { outward } from "./translate.ts";

export interface SiteEventsOptions {
  readonly own: RunningService;
  /** By number, the centre itself (0) first. */
  readonly sites: ReadonlyMap<number, Site>;
  readonly events: Events;
  readonly rows: CentreRows;
  readonly definitions: Definitions;
  /** What asks a site that is back for results whose answers were lost. */
  readonly lost: readonly { resolve(site: Place): Promise<void> }[];
  readonly log: Logger;
}

/** Passes on what happens at the sites, under the numbers of the centre. */
export class SiteEvents implements SiteListener {
  readonly #own: RunningService;
  readonly #sites: ReadonlyMap<number, Site>;
  readonly #events: Events;
  readonly #rows: CentreRows;
  readonly #definitions: Definitions;
  readonly #lost: SiteEventsOptions["lost"];
  readonly #log: Logger;

  constructor({ own, sites, events, rows, definitions, lost, log }: SiteEventsOptions) {
    this.#own = own;
    this.#sites = sites;
    this.#events = events;
    this.#rows = rows;
    this.#definitions = definitions;
    this.#lost = lost;
    this.#log = log;
  }

  state(site: Site): void {
    if (site.id === 0) return;
    const { id, name, state, since, problem } = site.shown();
    const miners = numbersAt(id, site.rows.keys());
    this.#events.site({ id, name, state, since }, miners);
    this.#rows.note(miners);
    if (site.isReached) for (const each of this.#lost) void each.resolve(site);
    const isAway = state === "unreachable" || state === "refused";
    if (isAway) this.#log.warn({ site: name, problem }, "a site cannot be reached");
    else this.#log.info({ site: name }, "a site is connected");
    this.#definitions.look(site);
    this.#own.setWarning?.(coded("notices.site.away", { name }), isAway ? (problem ?? "It does not answer") : null);
  }

  rows(site: Site, before: ReadonlyMap<number, MinerRow>): void {
    for (const id of before.keys()) if (!site.rows.has(id)) this.#rows.cache.remove(numberAt(site.id, id));
    this.#events.reset();
    const others = [...site.rows.values()].filter(({ id, uid }) => {
      const earlier = before.get(id)?.uid ?? null;
      return earlier !== null && uid !== null && earlier !== uid;
    });
    const [other] = others;
    // A rig of this service that is replaced by another at its address keeps its number.
    if (other !== undefined && site.id !== 0)
      this.#own.setWarning?.(
        coded("notices.site.numbers", { name: site.name }),
        coded("notices.site.numbersText", { count: others.length, rig: other.name }),
      );
    this.#reportTwins();
    // Its groups and rigs may be others, by which it takes what it did not.
    if (site.id !== 0 && site.shown().miners !== null) this.#definitions.look(site);
  }

  row({ id }: Site, row: MinerRow, groupBefore: number | undefined): void {
    const before = groupBefore === undefined ? null : numberAt(id, groupBefore);
    this.#events.miner({ id: numberAt(id, row.id), uid: row.uid, groupId: numberAt(id, row.group) }, before);
  }

  removed({ id }: Site, row: MinerRow): void {
    this.#rows.cache.remove(numberAt(id, row.id));
    this.#events.minerRemoved({ id: numberAt(id, row.id), uid: row.uid, groupId: numberAt(id, row.group) });
  }

  event(site: Site, event: Exclude<RowEvent, { readonly type: "miner" | "miner-removed" | "reset" }>): void {
    const data = outward(site.id, event.data);
    const there = { ...event, data } as typeof event;
    if (there.type === "notification")
      this.#events.notification(there.data, { minerId: there.data.minerId, key: null });
    else if (there.type === "notification-acknowledged" || there.type === "notification-removed")
      this.#events.notificationsHandled(
        there.type === "notification-removed" ? "removed" : "acknowledged",
        there.data.ids.map((id) => ({ id, minerId: null, key: null })),
      );
    else if (there.type === "command") this.#events.command(there.data);
    else if (there.type === "miner-event") this.#events.minerEvent(there.data);
    else if (there.type === "rule") {
      this.#events.rule(there.data, null);
      // The settings of this service, or a site, may have changed what is defined.
      if (site.id === 0) this.#definitions.noticed();
      else if (there.data.state === "removed") this.#definitions.look(site);
    } else if (there.type === "settings" && site.id === 0) this.#events.settings(there.data.sections);
    else if (there.type === "places") this.#events.places();
    else if (there.type === "summary") this.#events.summarise();
  }

  /** The same rig at two sites is shown twice, and said. */
  #reportTwins(): void {
    const places = new Map<string, { readonly site: Site; readonly name: string }>();
    let first: CodedText | undefined;
    let others = 0;
    for (const site of this.#sites.values())
      for (const { uid, name } of site.rows.values()) {
        if (uid === null) continue;
        const other = places.get(uid);
        if (other === undefined) places.set(uid, { site, name });
        else if (other.site === site) continue;
        else if (first === undefined) {
          const place = other.site.id === 0 ? coded("notices.site.own") : other.site.name;
          first = coded("notices.site.twin", { rig: name, site: site.name, other: other.name, place });
        } else others += 1;
      }
    const message =
      first === undefined || others === 0 ? first : coded("notices.site.moreTwins", { first, count: others });
    this.#own.setWarning?.(coded("notices.site.twins"), message ?? null);
  }
}
