import type { Logger } from "pino";
import type { z } from "zod";
import { pathText } from "../../../config/cross-checks.ts";
import type { Finding } from "../../../config/document.ts";
import type { KnownNames, KnownPlaces } from "../../../config/rule-checks.ts";
import { invalidAll, type Mistake, notFound, RigbridgeError, thing } from "../../../contract/problems.ts";
import { everySite, hereName } from "../../../contract/runs-at.ts";
import type { Caller } from "../../../contract/service.ts";
import type { RunStep } from "../../../contract/steps.ts";
import type { TemplateProgram } from "../../../contract/templates.ts";
import { messageOf, worded } from "../../../contract/wording.ts";
import { detail } from "../../../messages/detail.ts";
import type { Collection, Store, Stored } from "../../../store/index.ts";
import { enabled, given, refuseOfCentre } from "../../crud.ts";
import type { MinerRegistry } from "../../miners/miner-registry.ts";
import { visiblePlaces } from "../../miners/placement.ts";
import type { PoolBook } from "../../money/pool-book.ts";
import { type PlaceNode, placesOf } from "../../places/place-book.ts";
import type { Access, AccessBook } from "../../users/access.ts";
import { nameSpace, ownFirst } from "../rights.ts";
import { keyOf } from "../rule-rows.ts";
import type { StepTargets } from "../step-targets.ts";
import type { Automation } from "./index.ts";

export const mostRules = 1_000;

export interface RuleOperationsOptions {
  readonly automation: Automation;
  readonly registry: MinerRegistry;
  readonly store: Store;
  readonly accessBook: AccessBook;
  readonly now: () => number;
  readonly targets: StepTargets;
  readonly log: Logger;
  readonly book: PoolBook;
  /** Mistakes in the managed-miner settings of a template. */
  readonly programMistakes: (fields: TemplateProgram) => Mistake[];
  /** A centre has defined pools, pool groups or templates otherwise. */
  poolsChanged(): void;
  /** The rights of this creator's steps. */
  names(maker: Access): Pick<KnownNames, "channels" | "hooks" | "plans" | "hasMessages" | "programs"> & {
    readonly sites: ReadonlySet<string>;
  };
  /** Why a creator must not have these steps. */
  stepMistakes(steps: readonly RunStep[], maker: Access, path: string): Mistake[];
}

interface Made {
  readonly makerId: number | null;
  readonly name: string;
  readonly centre?: string | undefined;
}

type Definition = object | null | undefined;

export type MadeRows = ReturnType<typeof madeRows>;

/** Rules, schedules and windows of the file and of users: who may see and change them, and what they may name. */
export function madeRows(options: RuleOperationsOptions) {
  const { registry, store, accessBook } = options;

  const isVisible = ({ makerId }: Made, caller: Caller): boolean =>
    accessBook.of(caller).all || (makerId !== null && makerId === caller.userId);

  function found<T extends Made & { readonly definition?: Definition }>(
    collection: Collection<T>,
    id: string,
    what: string,
    caller: Caller,
  ): Stored<T> {
    const visible = enabled(collection).filter((each) => isVisible(each, caller));
    const rows = ownFirst(visible, accessBook.of(caller));
    const row = rows.find((each) => String(each.id) === id) ?? rows.find((each) => keyOf(each) === id);
    if (row === undefined) throw notFound(what, id);
    return row;
  }

  function own<T extends Made & { readonly definition?: Definition }>(
    collection: Collection<T>,
    id: string,
    what: string,
    caller: Caller,
  ): Stored<T> {
    const row = found(collection, id, what, caller);
    if (row.owner === "file")
      throw new RigbridgeError("owned.by-file", detail("thing.owned", { thing: thing(what), id }));
    refuseOfCentre(row, what, id);
    return row;
  }

  /** Who owns a row, as the API says it. */
  const ownerOf = ({ owner, centre }: Pick<Stored<Made>, "owner" | "centre">) =>
    centre === undefined ? { owner } : { owner: "centre" as const, centre };

  /** What is wrong with the sites of a definition, which may be removed after it was saved. */
  function siteProblem({ runsAt = [] }: { readonly runsAt?: readonly string[] | undefined }): string | null {
    if (runsAt.length === 0) return null;
    const { sites } = options.names(accessBook.of({ actor: "service" }));
    const missing = runsAt.filter((name) => name !== hereName && name !== everySite && !sites.has(name));
    if (missing.length > 0) return `there is no site ${missing.join(", ")}`;
    return sites.size === 0 && runsAt.includes(everySite) ? "there are no other sites" : null;
  }

  /**
   * The row that already has this key. Users with access to everything share keys with the file and the owner; any
   * other user has a separate name space, so that no key of another user is revealed.
   */
  function taken<T extends Made & { readonly definition?: Definition }>(
    collection: Collection<T>,
    key: string,
    { id, makerId }: { readonly id: number | null; readonly makerId: number | null },
  ): Stored<T> | undefined {
    const space = nameSpace(makerId, accessBook);
    const rows = enabled(collection);
    const before = rows.find((row) => row.id === id);
    if (before !== undefined && keyOf(before) === key) return undefined;
    return rows.find((row) => keyOf(row) === key && nameSpace(row.makerId, accessBook) === space);
  }

  function knownPlaces(access: Access): KnownPlaces {
    const book = placesOf(store);
    const seen = visiblePlaces(book, registry, access);
    const isSeen = ({ row }: PlaceNode): boolean => seen === null || seen.has(row.id);
    return {
      has: (place) => book.called(place).some(isSeen),
      get paths() {
        return book
          .all()
          .filter(isSeen)
          .map(({ path }) => path);
      },
    };
  }

  const known = (access: Access, names = options.names(access)): KnownNames => ({
    ...names,
    isLimited: !access.all,
    programs: names.programs && access.all,
    groups: new Set(enabled(store.groups).flatMap(({ id, name }) => (access.seesGroup(id) ? [name] : []))),
    miners: new Set(
      [...registry.entriesFor(access)].flatMap(({ facts, rig }) => [
        facts.name,
        ...((rig.state.uid ?? "") ? [rig.state.uid ?? ""] : []),
      ]),
    ),
    places: knownPlaces(access),
    pools: new Set(enabled(store.pools).flatMap(({ id, description }) => (access.seesPool(id) ? [description] : []))),
    targets: null,
  });

  const mistakesIn = (findings: readonly Finding[]): Mistake[] =>
    findings.map((each) => ({ ...each, path: pathText(each.path) }));

  function refuse(mistakes: readonly Mistake[]): void {
    if (mistakes.length > 0) throw invalidAll(mistakes);
  }

  return { isVisible, found, own, ownerOf, siteProblem, taken, known, mistakesIn, refuse };
}

export function parsed<T>(
  schema: {
    safeParse(
      value: unknown,
      options: object,
    ): { success: true; data: T } | { success: false; error: { issues: readonly z.core.$ZodIssue[] } };
  },
  value: unknown,
): T {
  const result = schema.safeParse(value, worded);
  if (result.success) return result.data;
  throw invalidAll(result.error.issues.map((issue) => ({ path: pathText(issue.path), ...messageOf(issue) })));
}

export const isoOrNull = (time: number | null | undefined): string | null =>
  time == null ? null : new Date(time).toISOString();

/** Whether a change only disables something, which is allowed whatever else is wrong with it. */
export const onlyDisables = (change: { readonly enabled?: unknown }): boolean =>
  change.enabled === false && Object.keys(given(change)).length === 1;

/**
 * A definition with some of its keys changed; null removes a key. Answers never contain header values, so an empty
 * value that is sent back keeps the stored one, for the same address only.
 */
export function changed(definition: Definition, change: object): Record<string, unknown> {
  const before = new Map<string, unknown>();
  eachHeader(definition, (id, value) => before.set(id, value));
  const whole = Object.entries({ ...definition, ...given(change) }).filter(([, value]) => value !== null);
  return Object.fromEntries(
    whole.map(([key, value]) => [key, eachHeader(value, (id, text) => (text === "" ? (before.get(id) ?? "") : text))]),
  );
}

/** A copy in which `replace` gives the value of each header; `id` is its address and name. */
function eachHeader(value: unknown, replace: (id: string, value: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => eachHeader(each, replace));
  if (typeof value !== "object" || value === null) return value;
  const address = "webhook" in value ? String(value.webhook) : "";
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      name === "headers" && typeof each === "object" && each !== null
        ? Object.fromEntries(
            Object.entries(each).map(([header, text]) => [header, replace(`${address} ${header}`, text)]),
          )
        : eachHeader(each, replace),
    ]),
  );
}

/** Header values may be secrets: `POST` and `PATCH` accept them, and no answer contains them. */
export const withoutHeaders = (definition: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(definition).map(([name, value]) => [name, eachHeader(value, () => "")]));
