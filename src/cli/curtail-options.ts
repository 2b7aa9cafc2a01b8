import { type Command, Option } from "commander";
import { bulkOrders } from "../contract/bulk-orders.ts";
import { type CurtailmentTarget, curtailmentLevels } from "../contract/curtailment.ts";
import { Duration } from "../contract/duration.ts";
import { type Mistake, RigbridgeError } from "../contract/problems.ts";
import { quantityIn } from "../contract/quantity.ts";
import type { Input } from "../contract/service.ts";

export interface TargetOptions {
  readonly reduce?: string;
  readonly limit?: string;
  readonly share?: string;
  readonly all?: true;
}

/** What is curtailed: the options of `curtail preview` and `curtail start`. */
export interface WantedOptions extends TargetOptions {
  readonly plan?: string;
  readonly places?: string[];
  readonly groups?: string[];
  readonly tags?: string[];
  readonly order?: (typeof bulkOrders)[number];
  readonly level?: (typeof curtailmentLevels)[number];
}

/** `from`: what a target is less than. */
export const withTargetOptions = (command: Command, from: string): Command =>
  command
    .option("--reduce <power>", `less than ${from}, such as 2MW, 500kW or 900 (W)`)
    .option("--limit <power>", "what the rigs may take together, such as 500kW")
    .option("--share <percent>", `less than ${from}, such as 50%`)
    .option("--all", "stop all of them");

export const withWantedOptions = (command: Command): Command =>
  withTargetOptions(command.option("--plan <key>", "a plan; a target replaces that of the plan"), "now")
    .option("--places <paths...>", "rigs of these places, such as Texas/B1; without places, groups and tags: all rigs")
    .option("--groups <names...>", "rigs of these groups")
    .option("--tags <names...>", "rigs with one of these tags")
    .addOption(new Option("--order <order>", "which rigs are first (default: efficiency)").choices(bulkOrders))
    .addOption(
      new Option("--level <level>", "setpoint: lower the power first; off: stop (default: setpoint)").choices(
        curtailmentLevels,
      ),
    );

type Wanted = Input<"previewCurtailment">;

/** The request of these options. Throws `input.invalid` with every option that is wrong or missing. */
export function wantedFrom(options: WantedOptions): Wanted {
  const { plan, places, groups, tags, order, level } = options;
  const mistakes: Mistake[] = [];
  const target = targetFrom(options, mistakes);
  if (plan === undefined && target === undefined && mistakes.length === 0)
    mistakes.push({ path: "--plan", message: "give a plan, or one of --reduce, --limit, --share and --all" });
  const ofPlan = { "--places": places, "--groups": groups, "--tags": tags, "--order": order, "--level": level };
  for (const [path, value] of Object.entries(ofPlan))
    if (plan !== undefined && value !== undefined)
      mistakes.push({ path, message: "is that of the plan; leave it out, or leave out --plan" });
  if (mistakes.length > 0) throw new RigbridgeError("input.invalid", "Nothing was curtailed:", { errors: mistakes });
  const isScoped = places !== undefined || groups !== undefined || tags !== undefined;
  return { plan, target, order, level, ...(isScoped ? { scope: { places, groups, tags } } : {}) };
}

/**
 * A new target, and a new end, which `never` removes. `now`: epoch ms. Throws `input.invalid` with every option that is wrong, or
 * if none is given.
 */
export function changesFrom(
  { until, ...options }: TargetOptions & { readonly until?: string },
  now: number,
): Pick<Input<"changeCurtailment">, "target" | "until"> {
  const mistakes: Mistake[] = [];
  const target = targetFrom(options, mistakes);
  const end = until === undefined || until === "never" ? until : endAt(until, now);
  if (end === null) mistakes.push({ path: "--until", message: `${untilForms}, or never` });
  if (target === undefined && until === undefined && mistakes.length === 0)
    mistakes.push({ path: "--until", message: "give a new end, or one of --reduce, --limit, --share and --all" });
  if (mistakes.length > 0) throw new RigbridgeError("input.invalid", "Nothing was changed:", { errors: mistakes });
  return { target, until: end === "never" ? null : (end ?? undefined) };
}

/** Not more than one of the four. */
function targetFrom(options: TargetOptions, mistakes: Mistake[]): CurtailmentTarget | undefined {
  const { reduce, limit, share, all } = options;
  const given = Object.entries({ reduce, limit, share, all }).flatMap(([key, value]) =>
    value === undefined ? [] : `--${key}`,
  );
  if (given.length > 1) mistakes.push({ path: given.join(", "), message: "only one of them may be given" });
  const number = (path: string, text: string, unit: "W" | "%"): number => {
    const found = quantityIn(text, unit);
    if (typeof found === "number") return found;
    mistakes.push({ path, message: found.text });
    return 0;
  };
  if (reduce !== undefined) return { reduce: number("--reduce", reduce, "W") };
  if (limit !== undefined) return { limit: number("--limit", limit, "W") };
  if (share !== undefined) return { share: number("--share", share, "%") };
  return all ? { all } : undefined;
}

const clockTime = /^([01]?\d|2[0-3]):([0-5]\d)$/;

/**
 * The end of a curtailment, as ISO 8601: from a duration from now like "2h", the next local "18:00", or a time with its zone.
 * `now`: epoch ms. Throws `input.invalid`.
 */
export function untilFrom(text: string, now: number): string {
  const end = endAt(text, now);
  if (end !== null) return end;
  throw new RigbridgeError("input.invalid", `--until: ${untilForms}`, {
    errors: [{ path: "--until", message: untilForms }],
  });
}

const untilForms = "must be like 2h, 18:00 or 2026-05-01T18:00:00Z";

/** Null if it is no time. */
function endAt(text: string, now: number): string | null {
  const [, hours, minutes] = clockTime.exec(text) ?? [];
  if (hours !== undefined && minutes !== undefined) return nextAt(Number(hours), Number(minutes), now).toISOString();
  const seconds = Duration(1, 365 * 86_400).safeParse(text);
  if (seconds.success) return new Date(now + seconds.data * 1000).toISOString();
  const isTime = /^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text));
  return isTime ? text : null;
}

function nextAt(hours: number, minutes: number, now: number): Date {
  const at = new Date(now);
  at.setHours(hours, minutes, 0, 0);
  if (at.getTime() <= now) at.setDate(at.getDate() + 1);
  return at;
}
