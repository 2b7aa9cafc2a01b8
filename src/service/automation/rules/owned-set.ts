import { ruleLoops } from "../../../config/rule-checks.ts";
import { type ResolvedRule, resolveRule } from "../../../config/rule-resolution.ts";
import type { DefinitionKind, RefusedDefinition } from "../../../contract/owned.ts";
import { invalid, type Mistake, RigbridgeError } from "../../../contract/problems.ts";
import { MaintenanceSettings, RuleSettings, ScheduleSettings } from "../../../contract/rules.ts";
import { runsHere } from "../../../contract/runs-at.ts";
import type { Input } from "../../../contract/service.ts";
import type {
  Changes,
  Collection,
  Store,
  Stored,
  StoredMaintenance,
  StoredRule,
  StoredSchedule,
} from "../../../store/index.ts";
import { enabled } from "../../crud.ts";
import type { Links } from "../../links.ts";
import type { Access } from "../../users/access.ts";
import { madeLists } from "../made-lists.ts";
import { keyOf, ruleRow } from "../rule-rows.ts";
import { type StepTargets, words } from "../step-targets.ts";
import type { Before, Checked, DefinitionChecks, Together } from "./checks.ts";
import { parsed } from "./made-rows.ts";

type Definitions = Input<"replaceOwned">;

export interface Centre {
  readonly name: string;
  /** Of its user; null: the centre that this service has connected to. */
  readonly id: number | null;
}

interface Ownable {
  readonly name: string;
  readonly makerId: number | null;
  readonly centre?: string | undefined;
  readonly links?: Links | undefined;
  readonly definition?: Readonly<Record<string, unknown>> | null | undefined;
}

/** The rows of a centre: found by its name too, so that a user who was made again takes them over. */
export const rowsOf = <R extends Ownable>(collection: Collection<R>, { id, name }: Centre): Stored<R>[] =>
  enabled(collection).filter(({ centre, makerId }) => centre !== undefined && (centre === name || makerId === id));

/** One definition of a set. */
interface Piece {
  readonly kind: DefinitionKind;
  readonly key: string;
  /** The row that it replaces. */
  readonly beforeId: number | null;
  /** Of a rule that can be read. */
  readonly rule: ResolvedRule | null;
  /** Of the last check. */
  links: Links;
  check(together: Together): readonly Mistake[];
}

interface Kind<S extends object, R extends Ownable> {
  readonly kind: DefinitionKind;
  readonly collection: Collection<R>;
  read(definition: unknown): S;
  row(settings: S, makerId: number | null): R;
  check(settings: S, before: Before, together: Together): Checked;
}

/** The definitions of one kind in a set. */
class SetOfKind<S extends object, R extends Ownable> {
  readonly pieces: readonly Piece[];
  readonly #kind: Kind<S, R>;
  readonly #centre: Centre;
  readonly #owned: readonly Stored<R>[];
  readonly #rows = new Map<Piece, R>();

  constructor(kind: Kind<S, R>, centre: Centre, definitions: readonly Readonly<Record<string, unknown>>[]) {
    this.#kind = kind;
    this.#centre = centre;
    this.#owned = rowsOf(kind.collection, centre);
    const keys = new Set<string>();
    this.pieces = definitions.map((definition, index) => {
      const key = keyOf({ key: null, name: `#${index + 1}`, definition });
      const isTwice = keys.has(key);
      keys.add(key);
      return isTwice ? this.#wrong(key, invalid("key", "is used twice")) : this.#piece(key, definition);
    });
  }

  #piece(key: string, definition: Readonly<Record<string, unknown>>): Piece {
    const { kind, read, row, check } = this.#kind;
    try {
      const settings = read(definition);
      const before = this.#owned.find((each) => keyOf(each) === key);
      const place: Before = { id: before?.id ?? null, makerId: this.#centre.id, links: before?.links };
      const piece: Piece = {
        kind,
        key,
        beforeId: place.id,
        links: {},
        rule: kind === "rule" ? resolvedRule(definition) : null,
        check: (together) => {
          const { links, mistakes } = check(settings, place, together);
          piece.links = links;
          return mistakes;
        },
      };
      this.#rows.set(piece, row(settings, this.#centre.id));
      return piece;
    } catch (error) {
      if (error instanceof RigbridgeError) return this.#wrong(key, error);
      throw error;
    }
  }

  #wrong(key: string, { errors }: RigbridgeError): Piece {
    return { kind: this.#kind.kind, key, beforeId: null, rule: null, links: {}, check: () => errors };
  }

  /** The rows that no definition of the set replaces any longer. */
  get gone(): readonly Stored<R>[] {
    const keys = new Set(this.pieces.map(({ key }) => key));
    return this.#owned.filter((row) => !keys.has(keyOf(row)));
  }

  /** The changes that bring what was accepted into the store; what was refused stays as it was. */
  changes(accepted: ReadonlySet<Piece>): Required<Changes<R>> {
    const added: R[] = [];
    const changed = new Map<number, R>();
    for (const [piece, row] of this.#rows) {
      if (!accepted.has(piece)) continue;
      const whole = { ...row, links: piece.links, centre: this.#centre.name };
      const before = piece.beforeId === null ? undefined : this.#kind.collection.get(piece.beforeId);
      if (before === undefined) added.push(whole);
      else if (madeOf(before) !== madeOf(whole)) changed.set(before.id, whole);
    }
    return { added, changed, removed: this.gone.map(({ id }) => id) };
  }
}

/** What makes a row another one; the targets of its names follow. */
const madeOf = ({ definition, makerId, centre }: Ownable): string => JSON.stringify([definition, makerId, centre]);

const resolvedRule = (definition: unknown): ResolvedRule | null => {
  const { data } = RuleSettings.safeParse(definition);
  return data === undefined ? null : resolveRule(data).rule;
};

/** Reads a definition; one of a set is for the site itself. */
const reading =
  <S extends { readonly runsAt?: readonly string[] | undefined }>(schema: Parameters<typeof parsed<S>>[0]) =>
  (definition: unknown): S => {
    const settings = parsed(schema, definition);
    if (!runsHere(settings.runsAt)) throw invalid("runsAt", "must not name other sites");
    return settings;
  };

export interface OwnedSetOptions {
  readonly store: Store;
  readonly targets: StepTargets;
  readonly checks: DefinitionChecks;
  readonly access: Access;
  readonly centre: Centre;
  /** The pools, pool groups and templates of the set that are not here, as `kind name`. */
  readonly untaken: ReadonlySet<string>;
}

/** A set of definitions, sorted into what this service takes and what it refuses. */
export function ownedSet({ store, targets, checks, access, centre, untaken }: OwnedSetOptions, set: Definitions) {
  const rules = new SetOfKind<RuleSettings, StoredRule>(
    {
      kind: "rule",
      collection: store.rules,
      read: reading(RuleSettings),
      row: ruleRow,
      check: (settings, before, together) => checks.rule(settings, access, before, together),
    },
    centre,
    set.rules,
  );
  const schedules = new SetOfKind<ScheduleSettings, StoredSchedule>(
    {
      kind: "schedule",
      collection: store.schedules,
      read: reading(ScheduleSettings),
      row: (settings, makerId) => ({ name: settings.name ?? settings.key, makerId, definition: { ...settings } }),
      check: (settings, before, together) => checks.schedule(settings, access, before, together),
    },
    centre,
    set.schedules,
  );
  const windows = new SetOfKind<MaintenanceSettings, StoredMaintenance>(
    {
      kind: "maintenance",
      collection: store.maintenance,
      read: reading(MaintenanceSettings),
      row: (settings, makerId) => ({ name: settings.name, makerId, definition: { ...settings } }),
      check: (settings) => ({ links: {}, mistakes: checks.window(settings, access) }),
    },
    centre,
    set.maintenance,
  );

  const gone = new Map(rules.gone.map((row) => [row.id, keyOf(row)]));
  const refused: RefusedDefinition[] = [];
  let accepted: readonly Piece[] = [...rules.pieces, ...schedules.pieces, ...windows.pieces];
  // Whatever names a refused rule is refused, too.
  for (let before = -1; before !== accepted.length; ) {
    before = accepted.length;
    const together = new Set(accepted.flatMap(({ kind, key }) => (kind === "rule" ? [key] : [])));
    const faults = new Map(
      accepted.map((piece): [Piece, readonly Mistake[]] => {
        const mistakes = piece.check(together);
        return [piece, [...mistakes, ...lostNames(piece, gone), ...untakenNames(piece, untaken)]];
      }),
    );
    if ([...faults.values()].every((mistakes) => mistakes.length === 0))
      for (const [piece, mistake] of loopsIn(accepted, store, targets)) faults.set(piece, [mistake]);
    for (const [{ kind, key }, mistakes] of faults)
      if (mistakes.length > 0) refused.push({ kind, name: key, message: sentenceOf(mistakes) });
    accepted = accepted.filter((piece) => faults.get(piece)?.length === 0);
  }
  const taken = new Set(accepted);
  return {
    refused,
    rules: rules.changes(taken),
    schedules: schedules.changes(taken),
    windows: windows.changes(taken),
  };
}

/** Names of rules that this set removes. */
const lostNames = ({ links }: Piece, gone: ReadonlyMap<number, string>): Mistake[] =>
  Object.entries(links).flatMap(([name, id]) => {
    const key = /^(?:rule|inhibitor) /.test(name) ? gone.get(id) : undefined;
    return key === undefined ? [] : [{ path: "", message: `there is no rule "${key}"` }];
  });

/** Names of pools and templates of this set that were not taken: another one of that name is not meant. */
export const untakenNames = ({ links }: Pick<Piece, "links">, untaken: ReadonlySet<string>): Mistake[] =>
  Object.keys(links).flatMap((named) =>
    untaken.has(named) ? [{ path: "", message: `it names the ${quoted(named)}, which is not taken` }] : [],
  );

function quoted(named: string): string {
  const [kind = ""] = named.split(" ", 1);
  const what = kind === "template" ? words.template : kind === "poolGroup" ? words.poolGroup : words.pool;
  return `${what} "${named.slice(kind.length + 1)}"`;
}

/** The rules of a set that would run each other in a loop, also by way of other rules. */
function loopsIn(pieces: readonly Piece[], store: Store, targets: StepTargets): Map<Piece, Mistake> {
  const ofSet = new Map(pieces.flatMap((piece) => (piece.rule === null ? [] : [[piece.key, piece]])));
  const keys = new Map(
    pieces.flatMap(({ kind, key, beforeId }) => (kind === "rule" && beforeId !== null ? [[beforeId, key]] : [])),
  );
  const nodeOf = (id: number): string => keys.get(id) ?? `#${id}`;
  const stepsOf = ({ do: steps = [], onClear = [], onGiveUp = [] }: Partial<ResolvedRule>) =>
    [...steps, ...onClear, ...onGiveUp].filter((step) => "rule" in step);
  const others = madeLists(store).filter(({ kind, row }) => kind === "rule" && !keys.has(row.id));
  const loops = ruleLoops([
    ...others.map(({ row, lists }) => ({
      key: `#${row.id}`,
      do: stepsOf(lists).map((step) => ({ rule: nodeOf(targets.idOf(row, { kind: "rule", name: step.rule })) })),
    })),
    ...Array.from(ofSet.values(), ({ key, rule, links }) => ({
      key,
      do: stepsOf(rule ?? {}).map(({ rule: name }) => ({
        rule: ofSet.has(name) ? name : nodeOf(links[`rule ${name}`] ?? 0),
      })),
    })),
  ]);
  const found = new Map<Piece, Mistake>();
  for (const { path } of loops)
    for (const key of path.split(" → ")) {
      const piece = ofSet.get(key);
      if (piece !== undefined) found.set(piece, { path: "do", message: `the rules run each other in a loop: ${path}` });
    }
  return found;
}

/** Characters of a sentence that is kept. */
const longest = 1_000;

export const sentenceOf = (mistakes: readonly Mistake[]): string =>
  mistakes
    .map(({ path, message }) => (path === "" ? message : `${path}: ${message}`))
    .join("; ")
    .slice(0, longest);
