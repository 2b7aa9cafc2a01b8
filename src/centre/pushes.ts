import { createHash } from "node:crypto";
import {
  type DefinitionKind,
  definitionKinds,
  type OwnedSet,
  type RefusedDefinition,
  type SiteCopy,
} from "../contract/owned.ts";
import { type ProblemCode, RigbridgeError } from "../contract/problems.ts";
import { runsAtSite } from "../contract/runs-at.ts";
import type { Caller, Input } from "../contract/service.ts";
import type { Site as ShownSite } from "../contract/sites.ts";
import { keyOf } from "../service/automation/rule-rows.ts";
import { withNamesNow } from "../service/automation/step-targets.ts";
import { enabled } from "../service/crud.ts";
import type { Links } from "../service/links.ts";
import { shownName } from "../service/money/pool-book.ts";
import { byTimer } from "../service/repeat.ts";
import type { Store, Stored, StoredPool, StoredTemplate } from "../store/index.ts";
import type { Site } from "./site.ts";

type Definition = Readonly<Record<string, unknown>>;

/** What a site should have. */
interface WantedSet {
  readonly input: Input<"replaceOwned">;
  /** Each definition as text, by kind and key. */
  readonly texts: ReadonlyMap<string, string>;
}

/** What a site last said about a definition: whether it takes this text. */
interface Answer {
  readonly text: string;
  /** Why it does not; null: it does. */
  readonly problem: string | null;
}

interface SiteState {
  readonly answers: ReadonlyMap<string, Answer>;
  /** Pools, pool groups and templates that are for it no longer, but which it uses, with that reason. */
  readonly left: readonly RefusedDefinition[];
  /** When the site took the last change, ISO; null = unknown. */
  readonly time: string | null;
  /** Why the site takes no set at all; null if it does. */
  readonly problem: string | null;
}

export interface PushesOptions {
  readonly store: Pick<Store, "rules" | "schedules" | "maintenance" | "pools" | "poolGroups" | "templates">;
  readonly sites: () => readonly Site[];
  /** Whether this user may still define something for the sites. */
  readonly mayDefine: (makerId: number | null) => boolean;
  /** What is known of a site has changed. */
  readonly changed: (site: Site, refused: readonly string[]) => void;
  readonly now: () => number;
}

/** ms between two looks at whether the sites have what they should; they are asked at once when something has changed. */
const lookMs = 60_000;
/** ms until a site that did not answer, but can be reached, is asked again. */
const againMs = 5_000;

/** ms in which the caller of a change is known. */
const noticedMs = 500;

const passing: ReadonlySet<ProblemCode> = new Set([
  "service.unreachable",
  "service.not-ready",
  "request.timeout",
  "too.many",
  "internal",
  "store.full",
]);

const unknown: SiteState = { answers: new Map(), left: [], time: null, problem: null };

/**
 * Brings what is defined here for other sites to them, each as a whole set: when it changes, and when a site is reached that
 * has another one. The sites act by it on their own.
 */
export class Pushes {
  readonly #options: PushesOptions;
  readonly #states = new Map<number, SiteState>();
  readonly #running = new Map<number, Promise<void>>();
  readonly #again = new Set<number>();
  readonly #wantedBy = new Map<number, WantedSet>();
  /** The rows of the sets that are kept, and of those that sites were last asked about. */
  #kept: readonly unknown[] = [];
  #pushed: readonly unknown[] = [];
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #stop: () => void;
  #actor = "centre";
  #isClosed = false;

  constructor(options: PushesOptions) {
    this.#options = options;
    this.#stop = byTimer(async () => this.changed(), lookMs);
  }

  /** Something may have been defined otherwise here; `actor`: who did it. */
  changed(actor: string = this.#actor): void {
    this.#actor = actor;
    this.#wantedBy.clear();
    this.#pushed = this.#rows();
    for (const site of this.#options.sites()) this.look(site);
  }

  /** A rule was changed here, or has only acted. Who did it says so itself, if it was a person. */
  noticed(): void {
    if (areSame(this.#rows(), this.#pushed)) return;
    this.#after(noticedMs, () => {
      if (!areSame(this.#rows(), this.#pushed)) this.changed("centre");
    });
  }

  /** The same arrays as long as nothing is defined otherwise. */
  #rows(): readonly unknown[] {
    const { rules, schedules, maintenance, pools, poolGroups, templates } = this.#options.store;
    return [rules, schedules, maintenance, pools, poolGroups, templates].map((each) => each.all());
  }

  /** Asks a site what it has, and brings it what it should have. */
  look(site: Site): void {
    if (this.#isClosed || !site.isReached) return;
    if (this.#running.has(site.id)) {
      this.#again.add(site.id);
      return;
    }
    const run = this.#bring(site).finally(() => {
      this.#running.delete(site.id);
      if (this.#again.delete(site.id)) this.look(site);
    });
    this.#running.set(site.id, run);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stop();
    for (const timer of this.#timers) clearTimeout(timer);
    await Promise.all(this.#running.values());
  }

  /** Where a definition of this service is: one entry for each of its other sites. */
  copiesOf(kind: DefinitionKind, definition: Definition): SiteCopy[] {
    if (isOver(definition, this.#options.now())) return [];
    const id = idOf(kind, definition);
    return this.#options.sites().flatMap((site) => {
      if (!runsAtSite(sitesIn(definition), site.name)) return [];
      return [{ name: site.name, ...this.#copyAt(site, id, this.#wanted(site).texts.get(id)) }];
    });
  }

  /** What was pushed to a site; undefined if nothing is for it. */
  shownAt(site: Site): ShownSite["definitions"] {
    const { texts } = this.#wanted(site);
    const copies = Array.from(texts, ([id, text]) => ({ id, ...this.#copyAt(site, id, text) }));
    const { left } = this.#states.get(site.id) ?? unknown;
    if (copies.length + left.length === 0) return undefined;
    const count = (state: SiteCopy["state"]): number => copies.filter((each) => each.state === state).length;
    return {
      pushed: count("pushed"),
      pending: count("pending"),
      refused: [
        ...copies.flatMap(({ id, state, problem }) =>
          state === "refused" ? [{ ...namedBy(id), message: problem ?? "" }] : [],
        ),
        ...left,
      ],
    };
  }

  #copyAt(site: Site, id: string, text: string | undefined): Omit<SiteCopy, "name"> {
    const { answers, time, problem } = this.#states.get(site.id) ?? unknown;
    if (text === undefined)
      return { state: "refused", time: null, problem: "The user who made it is no longer an administrator" };
    const answer = answers.get(id);
    if (answer?.text === text)
      return { state: answer.problem === null ? "pushed" : "refused", time, problem: answer.problem };
    if (problem !== null) return { state: "refused", time: null, problem };
    return { state: "pending", time: null, problem: site.isReached ? null : site.shown().problem };
  }

  #wanted(site: Site): WantedSet {
    if (!areSame(this.#rows(), this.#kept)) this.#wantedBy.clear();
    this.#kept = this.#rows();
    const known = this.#wantedBy.get(site.id) ?? this.#setFor(site);
    this.#wantedBy.set(site.id, known);
    return known;
  }

  #setFor(site: Site): WantedSet {
    const { store, now } = this.#options;
    const texts = new Map<string, string>();
    const those = (kind: DefinitionKind, rows: readonly Row[]): Definition[] =>
      rows.flatMap(({ definition, links, makerId, centre }) => {
        if (definition == null || centre !== undefined || !runsAtSite(sitesIn(definition), site.name)) return [];
        if (isOver(definition, now())) return [];
        if (!this.#options.mayDefine(makerId)) return [];
        const { runsAt: _, ...itself } = withNamesNow(definition, { links }, store).definition;
        texts.set(idOf(kind, definition), JSON.stringify(itself));
        return [itself];
      });
    const shared = <R extends object>(
      kind: DefinitionKind,
      rows: readonly (R & Shared)[],
      definitionOf: (row: R) => Definition,
    ): Definition[] =>
      rows.flatMap((row) => {
        if (row.centre !== undefined || !runsAtSite(row.runsAt, site.name)) return [];
        const definition = definitionOf(row);
        texts.set(idOf(kind, definition), JSON.stringify(definition));
        return [definition];
      });
    const pools = shared("pool", enabled(store.pools), poolOf);
    const poolGroups = shared("poolGroup", enabled(store.poolGroups), ({ name, pools: ids }) => ({
      name,
      pools: ids.flatMap((id) => {
        const pool = store.pools.get(id);
        return pool === undefined ? [] : [shownName(pool)];
      }),
    }));
    const mine = enabled(store.templates).filter(({ makerId }) => this.#options.mayDefine(makerId));
    const templates = shared("template", mine, (template) => templateOf(template, store));
    const set = {
      rules: those("rule", enabled(store.rules)),
      schedules: those("schedule", enabled(store.schedules)),
      maintenance: those("maintenance", enabled(store.maintenance)),
      // An earlier release refuses a set with these, so that it gets them only if there are any.
      ...(pools.length > 0 ? { pools } : {}),
      ...(poolGroups.length > 0 ? { poolGroups } : {}),
      ...(templates.length > 0 ? { templates } : {}),
    };
    // No salt is needed for the secrets of pools and templates: a site shows this name only to its centre.
    const version = createHash("sha256").update(JSON.stringify(set)).digest("hex");
    return { input: { version, ...set }, texts };
  }

  async #bring(site: Site): Promise<void> {
    const { service } = site;
    const wanted = this.#wanted(site);
    const caller: Caller = { actor: this.#actor };
    const before = this.#states.get(site.id);
    try {
      if (!site.offers("replaceOwned")) {
        if (wanted.texts.size > 0) this.#failed(site, "It does not offer that; a newer version of Rigbridge does");
        return;
      }
      const has = (await service.listOwned({}, caller)).find(({ mine }) => mine);
      if (wanted.texts.size === 0 && (has === undefined || isEmpty(has))) {
        this.#states.delete(site.id);
        if (before !== undefined) this.#options.changed(site, []);
        return;
      }
      const set = has === undefined ? wanted.input : fitting(wanted.input, has);
      const isThere = has?.version === set.version && has.refused.length === 0;
      this.#answered(site, wanted, isThere ? has : await this.#replace(site, wanted, caller));
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      if (!passing.has(error.code)) this.#failed(site, error.message);
      else this.#after(againMs, () => this.look(site));
    }
  }

  /** A site of an earlier release takes no templates, or no pools either, but all else. */
  async #replace({ service }: Site, { input }: WantedSet, caller: Caller): Promise<OwnedSet> {
    const sets = new Set([input, withoutTemplates(input), withoutPools(input)]);
    let refusal: unknown;
    for (const set of sets) {
      try {
        return await service.replaceOwned(set, caller);
      } catch (error) {
        if (!(error instanceof RigbridgeError) || error.code !== "input.invalid") throw error;
        refusal = error;
      }
    }
    throw refusal;
  }

  #answered(site: Site, { texts }: WantedSet, { refused, time, pools, templates }: OwnedSet): void {
    const problems = new Map(refused.map(({ kind, name, message }) => [`${kind} ${name}`, message]));
    const problemOf = (id: string): string | null => {
      if (pools === undefined && /^pool(?:Group)? /.test(id)) return needsNewer("pools");
      if (templates === undefined && id.startsWith("template ")) return needsNewer("templates");
      return problems.get(id) ?? null;
    };
    const answers = new Map(
      Array.from(texts, ([id, text]): [string, Answer] => [id, { text, problem: problemOf(id) }]),
    );
    const left = refused.filter(({ kind, name }) => !texts.has(`${kind} ${name}`));
    this.#become(site, { answers, left, time, problem: null });
  }

  #failed(site: Site, problem: string): void {
    this.#become(site, { ...(this.#states.get(site.id) ?? unknown), problem });
  }

  #become(site: Site, state: SiteState): void {
    const before = this.#states.get(site.id);
    this.#states.set(site.id, state);
    if (before !== undefined && textOf(before) === textOf(state)) return;
    const refused = Array.from(state.answers, ([id, { problem }]) =>
      problem === null ? [] : [`${namedBy(id).name}: ${problem}`],
    );
    this.#options.changed(site, [
      ...(state.problem === null ? [] : [state.problem]),
      ...refused.flat(),
      ...state.left.map(({ name, message }) => `${name}: ${message}`),
    ]);
  }

  #after(ms: number, work: () => void): void {
    if (this.#isClosed) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, ms);
    this.#timers.add(timer);
  }
}

const areSame = (some: readonly unknown[], others: readonly unknown[]): boolean =>
  some.every((each, index) => each === others[index]);

type Row = Pick<Stored<{ makerId: number | null }>, "makerId"> & {
  readonly definition?: Definition | null | undefined;
  readonly links?: Links | undefined;
  readonly centre?: string | undefined;
};

/** Whether a maintenance window has ended; nothing else has an end. */
const isOver = ({ until }: Definition, now: number): boolean => Date.parse(String(until)) <= now;

const sitesIn = ({ runsAt }: Definition): string[] | undefined =>
  Array.isArray(runsAt) ? runsAt.map(String) : undefined;

const idOf = (kind: DefinitionKind, definition: Definition): string => {
  const { description, url } = definition;
  const name =
    kind === "pool"
      ? shownName({ description: String(description), url: String(url) })
      : keyOf({ key: null, name: "", definition });
  return `${kind} ${name}`;
};

/** A pool, pool group or template, which may be for other sites. */
interface Shared {
  readonly runsAt?: readonly string[] | undefined;
  readonly centre?: string | undefined;
}

/** A pool as a site gets it: by the name that it is shown with, and with its password. */
const poolOf = (pool: StoredPool): Definition => ({
  description: shownName(pool),
  coinShortName: pool.coinShortName,
  coinAlgorithm: pool.coinAlgorithm,
  url: pool.url,
  workerName: pool.workerName,
  walletAddress: pool.walletAddress,
  plainWorkerPassword: pool.plainWorkerPassword,
});

/** A template as a site gets it, with the names that its pools have now. */
function templateOf(template: StoredTemplate, store: PushesOptions["store"]): Definition {
  const { name, do: steps, softwareType, algorithm, dualAlgorithm, commandLineParams } = template;
  const { definition } = withNamesNow({ do: steps }, template, store);
  return { name, ...definition, softwareType, algorithm, dualAlgorithm, commandLineParams };
}

type SetInput = WantedSet["input"];

/** The set for a site of an earlier release. Its name is another one, so that the whole is sent once it takes templates. */
function withoutTemplates(input: SetInput): SetInput {
  const { templates, version, ...others } = input;
  return templates === undefined ? input : { version: `${version} without templates`, ...others };
}

/** The set for a site of a still earlier release, which takes no pools either. */
function withoutPools(input: SetInput): SetInput {
  const { pools, poolGroups, version, ...others } = withoutTemplates(input);
  const isSame = (pools ?? poolGroups) === undefined;
  return isSame ? withoutTemplates(input) : { version: `${version} without pools`, ...others };
}

/** The set for a site by what it counts. */
function fitting(input: SetInput, { pools, templates }: OwnedSet): SetInput {
  if (pools === undefined) return withoutPools(input);
  return templates === undefined ? withoutTemplates(input) : input;
}

const needsNewer = (what: string): string => `It takes no ${what}; a newer version of Rigbridge does`;

/** Kind and name in an id. */
function namedBy(id: string): { readonly kind: DefinitionKind; readonly name: string } {
  const [kind = ""] = id.split(" ", 1);
  const name = id.slice(kind.length + 1);
  return { kind: definitionKinds.find((each) => each === kind) ?? "maintenance", name };
}

const isEmpty = ({ rules, schedules, maintenance, pools = 0, poolGroups = 0, templates = 0, refused }: OwnedSet) =>
  rules + schedules + maintenance + pools + poolGroups + templates + refused.length === 0;

const textOf = ({ answers, left, time, problem }: SiteState): string =>
  JSON.stringify([[...answers], left, time, problem]);
