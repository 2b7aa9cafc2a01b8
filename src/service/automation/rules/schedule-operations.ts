import { notFound } from "../../../contract/problems.ts";
import { type ScheduleInfo, ScheduleSettings } from "../../../contract/rules.ts";
import { runsHere } from "../../../contract/runs-at.ts";
import type { Caller, MiningService } from "../../../contract/service.ts";
import { done } from "../../crud.ts";
import type { Links } from "../../links.ts";
import type { Access } from "../../users/access.ts";
import { accessOfMaker } from "../rights.ts";
import type { Before, DefinitionChecks } from "./checks.ts";
import type { LiveSchedule } from "./live-schedule.ts";
import {
  changed,
  isoOrNull,
  type MadeRows,
  onlyDisables,
  parsed,
  type RuleOperationsOptions,
  withoutHeaders,
} from "./made-rows.ts";

export type ScheduleOperations = Pick<
  MiningService,
  | "listSchedules"
  | "addSchedule"
  | "changeSchedule"
  | "deleteSchedule"
  | "listScheduleRuns"
  | "upcomingSchedules"
  | "listMaintenance"
  | "addMaintenance"
  | "deleteMaintenance"
>;

const dayMs = 86_400_000;
const mostUpcoming = 500;

/** The operations on schedules and maintenance windows. */
export function scheduleOperations(
  options: RuleOperationsOptions,
  rows: MadeRows,
  checks: DefinitionChecks,
): ScheduleOperations {
  const { automation, registry, store, accessBook, targets, now } = options;
  const { schedules, traces, maintenance } = automation;
  const { isVisible, found, own, refuse, ownerOf } = rows;

  /** Like a rule. */
  function checkSchedule(settings: ScheduleSettings, caller: Caller, before: Before | null): Links {
    const { makerId } = before ?? { makerId: caller.userId ?? null };
    const access = accessOfMaker({ makerId }, accessBook) ?? accessBook.of(caller);
    const { links, mistakes } = checks.schedule(settings, access, before ?? { id: null, makerId });
    refuse(mistakes);
    return links;
  }

  const sees = (caller: Caller) => (minerId: number) => registry.visible(minerId, accessBook.of(caller)) !== undefined;

  const presentSchedule = async (live: LiveSchedule, caller: Caller): Promise<ScheduleInfo> => {
    const row = store.schedules.get(live.id);
    const [next] = schedules.upcoming(live, now() + 366 * dayMs, 1);
    return {
      id: live.id,
      key: live.settings.key,
      name: live.settings.name ?? live.settings.key,
      enabled: live.settings.enabled !== false,
      ...(row === undefined ? { owner: "store" as const } : ownerOf(row)),
      makerId: live.makerId,
      problem: live.problem ?? rows.siteProblem(live.settings),
      active: live.active !== null,
      nextStart: isoOrNull(next?.start),
      nextEnd: isoOrNull(live.active === null ? next?.end : live.active.end),
      lastRun: await traces.last("schedule", live.id, sees(caller)),
      definition: row === undefined ? {} : withoutHeaders(targets.present(row.definition, row).definition),
    };
  };

  const liveOf = (id: number): LiveSchedule => {
    const live = schedules.all.find((each) => each.id === id);
    if (live === undefined) throw notFound("schedule", id);
    return live;
  };

  const presentWindow = (each: (typeof maintenance.all)[number], access: Access) => ({
    id: each.row.id,
    name: each.settings.name,
    ...ownerOf(each.row),
    from: isoOrNull(each.settings.from === undefined ? undefined : each.from),
    until: new Date(each.until).toISOString(),
    active: maintenance.isActive(each),
    miners: runsHere(each.settings.runsAt)
      ? [...registry.entriesFor(access)].filter((entry) => each.covers(entry)).length
      : 0,
    definition: { ...each.settings },
  });

  return {
    listSchedules: async (_input, caller) =>
      Promise.all(
        schedules.all
          .filter((each) => isVisible({ ...each, name: "" }, caller))
          .map((each) => presentSchedule(each, caller)),
      ),
    addSchedule: async (settings, caller) => {
      const links = checkSchedule(settings, caller, null);
      const { key, name = key } = settings;
      const row = { name, links, makerId: caller.userId ?? null, definition: { ...settings } };
      const { id } = await store.schedules.add(row);
      automation.reload();
      return presentSchedule(liveOf(id), caller);
    },
    changeSchedule: async ({ id, ...change }, caller) => {
      const row = own(store.schedules, id, "schedule", caller);
      const before = targets.present(row.definition, row);
      const settings = parsed(ScheduleSettings, changed(before.definition, change));
      const links = onlyDisables(change)
        ? before.links
        : checkSchedule(settings, caller, { id: row.id, makerId: row.makerId, links: before.links });
      await store.schedules.change(row.id, { name: settings.name ?? settings.key, links, definition: { ...settings } });
      automation.reload();
      return presentSchedule(liveOf(row.id), caller);
    },
    deleteSchedule: async ({ id }, caller) => {
      const row = own(store.schedules, id, "schedule", caller);
      const wasActive = schedules.all.some((each) => each.id === row.id && each.active !== null);
      await store.schedules.remove(row.id);
      automation.reload();
      await store.ruleLog.forget("schedule", row.id);
      return done(`Schedule ${row.name} removed${wasActive ? "; it was active, so it ends now" : ""}`);
    },
    listScheduleRuns: async ({ id }, caller) => ({
      runs: await traces.list("schedule", found(store.schedules, id, "schedule", caller).id, sees(caller)),
    }),
    upcomingSchedules: async ({ days = 7 }, caller) => {
      const until = now() + days * dayMs;
      return schedules.all
        .filter((each) => isVisible({ ...each, name: "" }, caller))
        .flatMap((each) =>
          schedules.upcoming(each, until, mostUpcoming).map(({ start, end }) => ({
            scheduleId: each.id,
            key: each.settings.key,
            name: each.settings.name ?? each.settings.key,
            start: new Date(start).toISOString(),
            end: isoOrNull(end),
          })),
        )
        .sort((a, b) => a.start.localeCompare(b.start))
        .slice(0, mostUpcoming);
    },
    listMaintenance: async (_input, caller) =>
      maintenance.all
        .filter(({ row }) => isVisible(row, caller))
        .map((each) => presentWindow(each, accessBook.of(caller))),
    addMaintenance: async (settings, caller) => {
      const access = accessBook.of(caller);
      refuse([
        ...checks.window(settings, access),
        ...(Date.parse(settings.until) <= now() ? [{ path: "until", message: "must be in the future" }] : []),
        ...(access.all || settings.groups !== undefined || settings.miners !== undefined
          ? []
          : [{ path: "groups", message: "is required, or miners, of a user who does not see all groups" }]),
      ]);
      const { id } = await store.maintenance.add({
        name: settings.name,
        makerId: caller.userId ?? null,
        definition: { ...settings },
      });
      automation.reload();
      const made = maintenance.all.find(({ row }) => row.id === id);
      if (made === undefined) throw notFound("maintenance window", id);
      return presentWindow(made, access);
    },
    deleteMaintenance: async ({ id }, caller) => {
      const row = own(store.maintenance, String(id), "maintenance window", caller);
      await store.maintenance.remove(row.id);
      automation.reload();
      return done(`Maintenance window ${row.name} removed`);
    },
  };
}
