import type {
  CurtailedRig,
  Curtailment,
  CurtailmentPlan,
  CurtailmentPreview,
  CurtailmentReport,
  CurtailmentTarget,
} from "../contract/curtailment.ts";
import { durationText } from "../contract/duration.ts";
import type { Scope } from "../contract/rules.ts";
import { formatFor } from "../units/format.ts";
import { type Colour, inColour } from "./colours.ts";
import { localMinute } from "./local-time.ts";
import { counted, fittedTable, indented, pairs, table } from "./table.ts";

/** "850 W", "12.5 kW", "2.10 MW" */
export function wattsText(watts: number): string {
  if (watts >= 999_950) return `${(watts / 1e6).toFixed(2)} MW`;
  return watts >= 9_999.5 ? `${(watts / 1e3).toFixed(1)} kW` : `${Math.round(watts)} W`;
}

const knownWatts = (watts: number | null): string => (watts === null ? "" : wattsText(watts));

export function previewText({ power, lowered, stopped, seconds, revenueLost, currency, leftOut }: CurtailmentPreview) {
  const { now, target, after, unknown } = power;
  const short = after > target ? `, ${wattsText(after - target)} more than the target` : "";
  const money = formatFor({ locale: "en-US", currency });
  const lines = [
    ["Now", `${wattsText(now)}${unknown === 0 ? "" : `, and ${counted(unknown, "rig")} whose power is not known`}`],
    ["Target", wattsText(target)],
    ["Afterwards", `${wattsText(after)}${short}`],
    ["Rigs", `${counted(lowered, "rig")} lowered, ${stopped.toLocaleString("en-US")} stopped`],
    ["Time", timeText(seconds)],
    ["Revenue lost", revenueLost === null ? "not known" : `${money.money(revenueLost)} an hour`],
  ] as const;
  const reasons = leftOut.map(({ miners, message }) => [`${miners}`, message]);
  return [pairs(lines), ...(reasons.length === 0 ? [] : ["Left out:", indented(table(["Rigs", "Why"], reasons))])].join(
    "\n",
  );
}

const timeText = (seconds: CurtailmentPreview["seconds"]): string =>
  seconds === null
    ? "nothing changes"
    : `50 % in ${secondsText(seconds.half)}, 90 % in ${secondsText(seconds.most)}, all in ${secondsText(seconds.all)}`;

const secondsText = (seconds: number): string =>
  seconds < 600 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`;

/** What it does now, in one line. */
export function curtailmentLine({ id, state, drill, power, seconds, rigs }: Curtailment): string {
  const eta =
    state !== "curtailing" || seconds === 0
      ? ""
      : seconds === null
        ? ", cannot be reached"
        : `, reached in about ${secondsText(seconds)}`;
  const what = `${drill ? "Drill" : "Curtailment"} ${id}: ${state}`;
  return `${what}, ${wattsText(power.now)} of ${counted(rigs.total, "rig")}, target ${wattsText(power.target)}${eta}`;
}

const heads = ["Id", "State", "Began", "Now", "Target", "Rigs", "Reason"];
const stateColumn = 1;
const reasonColumn = heads.length - 1;
const colours: Partial<Record<string, Colour>> = { curtailing: "yellow", holding: "green", restoring: "yellow" };

/** Curtailments as lines of a table, the heads first, at most 80 columns; times are local. */
export function curtailmentTable(listed: readonly Curtailment[], coloured: boolean): string[] {
  const rows = listed.map(({ id, state, started, power, rigs, reason }) => [
    `${id}`,
    state,
    localMinute(new Date(started)),
    state === "ended" ? "" : wattsText(power.now),
    wattsText(power.target),
    `${rigs.reached}/${rigs.total}`,
    reason,
  ]);
  const paint = (cell: string, row: number, column: number): string => {
    const colour = column === stateColumn ? colours[listed[row]?.state ?? ""] : undefined;
    return colour === undefined ? cell : inColour(colour, cell);
  };
  return fittedTable(heads, rows, { flexible: [reasonColumn], ...(coloured ? { paint } : {}) });
}

/** Plans as lines of a table, the heads first, at most 80 columns. */
export const planTable = (plans: readonly CurtailmentPlan[]): string[] =>
  fittedTable(
    ["Key", "Name", "Miners", "Target", "State"],
    plans.map(({ key, name, scope, target, active }) => [
      key,
      name,
      scopeText(scope),
      targetText(target),
      active === null ? "" : `curtailment ${active}`,
    ]),
    { flexible: [0, 1, 2] },
  );

function targetText({ reduce, limit, share }: CurtailmentTarget): string {
  if (reduce !== undefined) return `${wattsText(reduce)} less`;
  if (limit !== undefined) return `at most ${wattsText(limit)}`;
  return share === undefined ? "all stop" : `${share} % less`;
}

function scopeText({ not, ...scope }: Scope = {}): string {
  const parts = Object.entries(scope).map(([key, names]) => `${key} ${names?.join(", ")}`);
  return parts.length === 0 && not === undefined
    ? "all"
    : [...parts, ...(not === undefined ? [] : ["with exceptions"])].join("; ");
}

/** What a curtailment did, and each of its rigs. */
export function reportText({ curtailment, shed, rigs }: CurtailmentReport): string {
  const { reason, actor, started, reached, ended, restored, power } = curtailment;
  const at = (time: string | null): string => (time === null ? "not yet" : localMinute(new Date(time)));
  const energy = (value: number | null): string => (value === null ? "not known" : `${value.toFixed(2)} kWh`);
  const lines = pairs([
    ["Reason", `${reason} (${actor})`],
    ["Began", at(started)],
    [
      "Target reached",
      reached === null ? at(null) : `${at(reached)}, after ${durationText(wholeSeconds(started, reached))}`,
    ],
    ["Ended", at(ended)],
    ["Restored", at(restored)],
    ["Power before", wattsText(power.baseline)],
    ["Target", wattsText(power.target)],
    ["Less energy", `${energy(shed.energy)}${seenText(shed.seen)}`],
    ["By the meters", `${energy(shed.byMeter)}${methodText(shed.meterBy)}${seenText(shed.meterSeen)}`],
    ["Over the target", energy(shed.shortfall)],
  ]);
  return [curtailmentLine(curtailment), indented(lines), ...(rigs.length === 0 ? [] : reportTable(rigs))].join("\n");
}

const methodText = (by: CurtailmentReport["shed"]["meterBy"]): string =>
  by === null ? "" : by === "counter" ? ", counted" : ", from its power";

/** Only if some of the time was not measured. */
const seenText = (share: number | null): string =>
  share === null || share > 0.995 ? "" : ` in ${Math.round(share * 100)} % of the time`;

const wholeSeconds = (from: string, to: string): number => Math.round((Date.parse(to) - Date.parse(from)) / 1000);

const reportTable = (rigs: readonly CurtailedRig[]): string[] =>
  fittedTable(
    ["Rig", "State", "Before", "Wanted", "Now", "Tries", "Message"],
    rigs.map(({ name, state, before, wanted, now, tries, message }) => [
      name,
      state,
      knownWatts(before),
      wattsText(wanted),
      knownWatts(now),
      `${tries}`,
      message,
    ]),
    { flexible: [0, 6] },
  );
