import type { Logger } from "pino";
import type { OwnedSet } from "../../../contract/owned.ts";
import { notFound, RigbridgeError } from "../../../contract/problems.ts";
import type { Caller, Input, MiningService } from "../../../contract/service.ts";
import { detail } from "../../../messages/detail.ts";
import type { Changes, Stored, StoredCentre } from "../../../store/index.ts";
import { done, enabled, find } from "../../crud.ts";
import { madeLists } from "../made-lists.ts";
import { keyOf } from "../rule-rows.ts";
import type { DefinitionChecks } from "./checks.ts";
import { mostRules, type RuleOperationsOptions } from "./made-rows.ts";
import { type Centre, ownedSet, rowsOf } from "./owned-set.ts";
import { OwnedTargets } from "./owned-targets.ts";

export type OwnedOperations = Pick<MiningService, "listOwned" | "replaceOwned" | "releaseOwned">;

/** What centres define here: it acts without them, and is changed by them alone. */
export function ownedOperations(
  options: RuleOperationsOptions,
  checks: DefinitionChecks,
  log: Logger,
): OwnedOperations {
  const { automation, store, accessBook, targets, now } = options;
  const named = new OwnedTargets(options);

  /** The centre that calls, whose access was checked. */
  const centreOf = ({ userId = 0, centre }: Caller): Centre =>
    centre === undefined ? find(store.users, userId, "user") : { id: null, name: centre };

  const rowOf = ({ id, name }: Centre): Stored<StoredCentre> | undefined =>
    enabled(store.centres).find((row) => row.name === name || row.userId === id);

  const isMine = ({ userId, name }: StoredCentre, caller: Caller): boolean =>
    userId === null ? caller.centre === name : caller.userId === userId;

  const present = (row: StoredCentre, caller: Caller): OwnedSet => {
    const owned = { id: row.userId, name: row.name };
    return {
      centre: row.name,
      mine: isMine(row, caller),
      // It is a digest over passwords, too, by which a guess at one could be checked.
      version: isMine(row, caller) ? row.version : "",
      time: new Date(row.at).toISOString(),
      actor: row.actor,
      rules: rowsOf(store.rules, owned).length,
      schedules: rowsOf(store.schedules, owned).length,
      maintenance: rowsOf(store.maintenance, owned).length,
      ...named.counts(row.name),
      refused: [...row.refused],
    };
  };

  /** Throws `not.possible` for a set with which there would be too many rules, before anything of it is taken. */
  function refuseTooMany({ rules }: Input<"replaceOwned">, centre: Centre): void {
    const owned = rowsOf(store.rules, centre).map(keyOf);
    const others = enabled(store.rules).length - owned.length;
    const keys = new Set(rules.map((definition, index) => keyOf({ key: null, name: `#${index + 1}`, definition })));
    const hasNew = [...keys].some((key) => !owned.includes(key));
    if (hasNew && others + keys.size > mostRules)
      throw new RigbridgeError("not.possible", detail("rule.most", { count: mostRules }));
  }

  /** The rules of a set may name each other; their ids are known once they are stored. */
  async function linkTogether(centre: string): Promise<void> {
    for (const { kind, row, lists } of madeLists(store)) {
      if (row.centre !== centre) continue;
      const { links } = targets.resolve(lists, row, row.links);
      if (JSON.stringify(links) === JSON.stringify(row.links ?? {})) continue;
      await (kind === "rule" ? store.rules : store.schedules).change(row.id, { links });
    }
  }

  return {
    listOwned: async (_input, caller) =>
      accessBook.of(caller).all ? enabled(store.centres).map((row) => present(row, caller)) : [],
    replaceOwned: async (body, caller) => {
      const centre = centreOf(caller);
      const access = accessBook.of({ actor: "service", ...(centre.id === null ? {} : { userId: centre.id }) });
      refuseTooMany(body, centre);
      const { name, id: userId } = centre;
      // First, so that what is defined below has an owner; a set without its name is pushed again.
      const before =
        rowOf(centre) ??
        (await store.centres.add({ name, userId, version: "", at: now(), actor: caller.actor, refused: [] }));
      // Before the rules that name them.
      const taken = await named.take(body, centre, before.name, access);
      const { rules, schedules, windows, ...others } = ownedSet(
        { store, targets, checks, access, centre, untaken: taken.untaken },
        body,
      );
      const areRulesChanged = isChange(rules) || isChange(schedules) || isChange(windows);
      if (areRulesChanged) {
        await store.commit([
          store.rules.prepare(rules),
          store.schedules.prepare(schedules),
          store.maintenance.prepare(windows),
        ]);
        for (const id of rules.removed) await store.ruleLog.forget("rule", id);
      }
      await linkTogether(centre.name);
      // After the rules that named them.
      const left = await named.drop(body, centre.name);
      const refused = [...taken.refused, ...others.refused, ...left.refused];
      const areTargetsChanged = taken.isChanged || left.isChanged;
      const isChanged = areRulesChanged || areTargetsChanged;
      const { version } = body;
      const isSame =
        before.version === version &&
        before.name === name &&
        before.userId === userId &&
        JSON.stringify(before.refused) === JSON.stringify(refused);
      if (isChanged || !isSame) {
        const at = isChanged ? now() : before.at;
        await store.centres.change(before.id, { name, userId, version, at, actor: caller.actor, refused });
      }
      if (areTargetsChanged) options.poolsChanged();
      if (isChanged) {
        automation.reload();
        for (const id of schedules.removed) await store.ruleLog.forget("schedule", id);
        log.info({ actor: caller.actor, refused: refused.length }, "a centre has changed its definitions here");
      }
      const saved = rowOf(centre);
      if (saved === undefined) throw notFound("centre", centre.name);
      return present(saved, caller);
    },
    releaseOwned: async ({ centre: name, keep }, caller) => {
      const row = enabled(store.centres).find((each) => each.name === name);
      if (row === undefined) throw notFound("centre", name);
      const owned = { id: row.userId, name };
      const rows = {
        rules: rowsOf(store.rules, owned),
        schedules: rowsOf(store.schedules, owned),
        windows: rowsOf(store.maintenance, owned),
      };
      const makerId = caller.userId ?? null;
      const released = (all: readonly { readonly id: number }[]) =>
        keep
          ? { changed: new Map(all.map(({ id }) => [id, { centre: undefined, makerId }])) }
          : { removed: all.map(({ id }) => id) };
      await store.commit([
        store.rules.prepare(released(rows.rules)),
        store.schedules.prepare(released(rows.schedules)),
        store.maintenance.prepare(released(rows.windows)),
        store.centres.prepare({ removed: [row.id] }),
        ...(keep ? named.release(name, makerId) : []),
      ]);
      const left = keep ? [] : (await named.drop({}, name)).refused.map((each) => each.name);
      if (left.length > 0) await store.commit(named.release(name, makerId));
      options.poolsChanged();
      automation.reload();
      if (!keep) {
        for (const { id } of rows.rules) await store.ruleLog.forget("rule", id);
        for (const { id } of rows.schedules) await store.ruleLog.forget("schedule", id);
      }
      log.info({ actor: caller.actor }, "what a centre had defined here was released");
      if (keep) return done(`What ${name} defined here is changed here now`);
      const used = left.length === 0 ? "" : `; what is used here is changed here now: ${left.join(", ")}`;
      return done(`What ${name} defined here was removed${used}`);
    },
  };
}

const isChange = <T>({ added, changed, removed }: Required<Changes<T>>): boolean =>
  added.length + changed.size + removed.length > 0;
