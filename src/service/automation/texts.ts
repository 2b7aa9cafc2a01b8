import type { ExpressionContext } from "../../config/expressions.ts";
import { isRecord } from "../../contract/record.ts";
import { filled } from "../../contract/texts.ts";
import { statusOf } from "../../fleet/state.ts";
import type { Format } from "../../units/format.ts";
import type { Entry } from "../miners/miner-entries.ts";
import { presentReadings } from "../miners/present-miner.ts";
import type { RunRequest } from "./run-types.ts";

/** Sources of the values in texts and expressions. */
export interface NamesOptions {
  entryOf(minerId: number): Entry | undefined;
  groupName(groupId: number): string | null;
  /** Last output of its mining program before it failed for good or was restarted; null if unknown. */
  lastOutputOf(minerId: number): string | null;
  readonly format: Format;
}

type Names = Readonly<Record<string, unknown>>;

const minerNames = ({ facts, rig }: Entry, groupName: NamesOptions["groupName"]): Names => ({
  uid: rig.state.uid,
  name: facts.name,
  group: groupName(facts.groupId),
  tags: facts.tags,
  model: rig.state.identity?.model ?? null,
  location: facts.location,
});

const readingNames = ({ rig }: Entry): Names =>
  presentReadings(
    rig.state,
    rig.state.energy,
    rig.state.reason === null ? null : { ...rig.state.reason, since: new Date(rig.state.reason.since).toISOString() },
  );

/** The names for expressions. */
export const expressionNames =
  ({ entryOf, groupName }: NamesOptions) =>
  (
    { id }: { readonly id: number },
    { key, name }: { readonly key: string; readonly name: string },
  ): ExpressionContext => {
    const entry = entryOf(id);
    return {
      miner: entry === undefined ? {} : minerNames(entry, groupName),
      reading: entry === undefined ? {} : readingNames(entry),
      rule: { key, name },
    };
  };

/** Fills in texts. Without a miner, readings cover all miners in the scope: sums, and the highest temperature. */
export const textsOf =
  ({ entryOf, groupName, lastOutputOf, format }: NamesOptions) =>
  (
    rule: { readonly key: string; readonly name: string },
    members: () => readonly number[],
  ): NonNullable<RunRequest["texts"]> =>
  (minerId, text) => {
    const entry = minerId === null ? undefined : entryOf(minerId);
    let farm: { readonly reading: Names; readonly rule: Names } | undefined;
    const escaped = escapeFor(text);
    return filled(text, (name) => {
      const [root = "", ...path] = name.split(".");
      const isOfFarm = root === "rule" || (root === "reading" && entry === undefined);
      if (isOfFarm) farm ??= totalsOf(members().flatMap((id) => entryOf(id) ?? []));
      const names: Readonly<Record<string, Names | undefined>> = {
        miner:
          entry === undefined
            ? {}
            : {
                ...minerNames(entry, groupName),
                lastOutput: name === lastOutput ? lastOutputOf(entry.facts.id) : null,
              },
        reading: entry === undefined ? farm?.reading : readingNames(entry),
        rule: { ...farm?.rule, ...rule },
      };
      return escaped(written(path, at(names[root], path), format));
    });
  };

const lastOutput = "miner.lastOutput";

const at = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (inner, step) =>
      typeof inner === "object" && inner !== null && Object.hasOwn(inner, step) ? Reflect.get(inner, step) : null,
    value,
  );

/** Stands for an unknown value. */
const dash = "–";

function written(path: readonly string[], value: unknown, format: Format): string {
  if (typeof value === "number") return path[0]?.startsWith("hashrate") ? format.hashrate(value) : String(short(value));
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.length === 0 ? dash : value.join(", ");
  // A location: its known parts.
  if (isRecord(value))
    return (
      Object.values(value)
        .filter((part) => typeof part === "string")
        .join(" / ") || dash
    );
  return typeof value === "string" && value !== "" ? value : dash;
}

/** Two decimals, or six digits for small values such as an efficiency. */
const short = (value: number): number => Number(Math.abs(value) < 1 ? value.toPrecision(6) : value.toFixed(2));

/** Escapes a value in JSON, such as the body of a web hook, so that it cannot end the string around it. */
const escapeFor = (text: string): ((value: string) => string) =>
  isJson(text) ? (value) => JSON.stringify(value).slice(1, -1) : (value) => value;

const isJson = (text: string): boolean => /^\s*(\{(?!\{)|\[)/.test(text);

function totalsOf(entries: readonly Entry[]): { readonly reading: Names; readonly rule: Names } {
  const statuses = entries.map(({ rig }) => statusOf(rig.state, rig.declared.disabled));
  const readings = entries.flatMap(({ rig }) => rig.state.reading?.readings ?? []);
  const sum = (read: (reading: (typeof readings)[number]) => number | null): number | null =>
    readings.reduce<number | null>((total, each) => {
      const value = read(each);
      return value === null ? total : (total ?? 0) + value;
    }, null);
  const hottest = Math.max(...readings.map(({ temperature }) => temperature ?? Number.NEGATIVE_INFINITY));
  return {
    reading: {
      hashrate: sum(({ hashrate }) => hashrate),
      hashrateExpected: sum(({ hashrateExpected }) => hashrateExpected),
      hashrateAverage: sum(({ hashrateAverage }) => hashrateAverage),
      power: sum(({ power }) => power),
      foundBlocks: sum(({ foundBlocks }) => foundBlocks),
      temperature: Number.isFinite(hottest) ? hottest : null,
      bestShare: readings.reduce<number | null>(
        (best, each) => (each.bestShare === null ? best : Math.max(best ?? 0, each.bestShare)),
        null,
      ),
    },
    rule: {
      miners: entries.length,
      mining: statuses.filter((status) => status === "Mining").length,
      offline: statuses.filter((status) => status === "Disconnected").length,
    },
  };
}
