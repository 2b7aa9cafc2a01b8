import { isRecord } from "../contract/record.ts";
import type { CallName, Reply } from "../contract/service.ts";
import { numberAt } from "../contract/site-numbers.ts";
import type { Format } from "../units/format.ts";
import { parserFor } from "../units/parse.ts";
import { groupNameAt, type SiteName } from "./translate.ts";

/** The reply of one site, with the numbers of the centre. */
export interface Part {
  readonly site: SiteName;
  /** Of its display strings. */
  readonly locale: string;
  readonly reply: unknown;
}

export interface MergeContext {
  readonly format: Format;
  readonly currency: string;
  /** A sentence for each site that did not answer. */
  readonly missing: readonly string[];
}

type Merge = (parts: readonly [Part, ...Part[]], context: MergeContext) => unknown;

/** The lists of a reply that hold the entries of every site; of anything else, the centre's own stands. */
const lists: Partial<Record<CallName, readonly string[]>> = {
  listPools: ["list"],
  listNotifications: ["notificationList"],
  listCommands: ["commandList"],
  listRuns: ["runs"],
  listManagedTemplates: ["managedTemplateList"],
  listRules: ["rules"],
  exportMiners: ["list"],
  exportPlaces: ["list"],
};

/** The times by which the entries of a list are sorted, newest first, and the most entries. */
const newestFirst: Partial<Record<CallName, { readonly by: string; readonly most: number }>> = {
  listNotifications: { by: "timeUtc", most: Number.POSITIVE_INFINITY },
  listCommands: { by: "time", most: 1_000 },
  listRuns: { by: "time", most: 1_000 },
  listBulkActions: { by: "time", most: 1_000 },
};

const sums: readonly string[] = ["notificationCount", "unacknowledgedNotificationCount"];

const special: Partial<Record<CallName, Merge>> = {
  listMiners: mergedMiners,
  listRooms: (parts) => parts.flatMap(({ site, reply }) => rowsIn(reply).map((room) => withKey(site, room))),
  listFacility: (parts) => parts.flatMap(({ site, reply }) => rowsIn(reply).map((device) => withKey(site, device))),
  getMoney: mergedMoney,
  getSummaryHistory: mergedHistory,
};

/** One reply over several sites; the first part is the centre's own. */
export function merged(name: CallName, parts: readonly [Part, ...Part[]], context: MergeContext): unknown {
  const merge = special[name];
  if (merge !== undefined) return merge(parts, context);
  const [{ reply: own }] = parts;
  const sorted = (entries: unknown[]): unknown[] => {
    const order = newestFirst[name];
    if (order === undefined) return entries;
    const timeOf = (entry: unknown): string => (isRecord(entry) ? String(entry[order.by]) : "");
    return entries.toSorted((a, b) => timeOf(b).localeCompare(timeOf(a))).slice(0, order.most);
  };
  if (Array.isArray(own)) return sorted(parts.flatMap(({ reply }) => rowsIn(reply)));
  if (!isRecord(own)) return own;
  const together = Object.fromEntries(
    (lists[name] ?? []).map((key) => [key, sorted(parts.flatMap(({ reply }) => rowsIn(at(reply, key))))]),
  );
  const counted = Object.fromEntries(
    sums
      .filter((key) => typeof own[key] === "number")
      .map((key) => [key, parts.reduce((sum, { reply }) => sum + Number(at(reply, key) ?? 0), 0)]),
  );
  return { ...own, ...counted, ...together };
}

const at = (value: unknown, key: string): unknown => (isRecord(value) ? value[key] : undefined);
const rowsIn = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const keyMark = /^s(\d{1,4})\.(.+)$/;
/** Rooms have keys, not numbers: `s3.group-1` is `group-1` of site 3. */
export const keyAt = (site: number, key: string): string => (site === 0 ? key : `s${site}.${key}`);
/** The site of a key, and the key there. */
export function keyThere(key: string): { readonly site: number; readonly key: string } {
  const [, site, there] = keyMark.exec(key) ?? [];
  return site === undefined || there === undefined ? { site: 0, key } : { site: Number(site), key: there };
}

/** A room under the key and the name of the centre. */
export function withKey(site: SiteName, room: unknown): unknown {
  if (site.id === 0 || !isRecord(room)) return room;
  return { ...room, key: keyAt(site.id, String(room.key)), name: groupNameAt(site, String(room.name)) };
}

function mergedMiners(parts: readonly [Part, ...Part[]], { format, missing }: MergeContext): unknown {
  const [{ reply: own }] = parts;
  if (!isRecord(own)) return own;
  const hashrate = parts.reduce(
    (sum, { reply, locale }) => sum + (parserFor({ locale }).hashrate(String(at(reply, "totalHashrate5s"))) ?? 0),
    0,
  );
  const said = (key: string): unknown[] =>
    parts.flatMap(({ site, reply }) =>
      rowsIn(at(at(reply, "metaData"), key)).map((each) => (site.id === 0 ? each : `${site.name}: ${each}`)),
    );
  return {
    ...own,
    totalHashrate5s: format.hashrate(hashrate),
    manualActionList: parts.flatMap(({ reply }) => rowsIn(at(reply, "manualActionList"))),
    groupList: parts.flatMap(({ site, reply }) => rowsIn(at(reply, "groupList")).map((group) => named(site, group))),
    metaData: {
      ...(isRecord(own.metaData) ? own.metaData : {}),
      infoList: said("infoList"),
      warningList: [...missing, ...said("warningList")],
    },
  };
}

/** A group of miners under the name that it has at the centre. */
function named(site: SiteName, group: unknown): unknown {
  if (site.id === 0 || !isRecord(group)) return group;
  const isSite = group.id === 0;
  const inside = group.groupList;
  return {
    ...group,
    ...(isSite ? { id: numberAt(site.id, 0) } : {}),
    name: isSite ? site.name : groupNameAt(site, String(group.name)),
    ...(Array.isArray(inside) ? { groupList: inside.map((each) => named(site, each)) } : {}),
  };
}

type MoneyReport = Reply<"getMoney">;
type MoneyRow = MoneyReport["totalList"][number];

const isMoney = (reply: unknown): reply is MoneyReport => isRecord(reply) && Array.isArray(reply.totalList);

/** Money in other currencies is left out, and said. */
function mergedMoney(parts: readonly [Part, ...Part[]], { currency, missing }: MergeContext): unknown {
  const reports = parts.flatMap(({ site, reply }) => (isMoney(reply) ? [{ site, report: reply }] : []));
  const [own] = reports;
  if (own === undefined) return parts[0].reply;
  const summed = reports.filter(({ report }) => report.currency === currency);
  const others = reports.filter(({ report }) => report.currency !== currency);
  const left = [...missing, ...others.map(({ site, report }) => `${site.name} counts in ${report.currency}`)];
  const byName = own.report.of === "coin" || own.report.of === "algorithm";
  const rows = summed.flatMap(({ site, report }) =>
    report.list.map((row) => ({ ...row, name: own.report.of === "group" ? groupNameOf(site, row.name) : row.name })),
  );
  const list = byName
    ? [...Map.groupBy(rows, ({ period, name }) => `${period} ${name}`).values()].flatMap((same) => addedUp(same) ?? [])
    : rows.toSorted((a, b) => a.period.localeCompare(b.period));
  const totals = [
    ...Map.groupBy(
      summed.flatMap(({ report }) => report.totalList),
      ({ period }) => period,
    ).values(),
  ];
  return {
    ...own.report,
    currency,
    list,
    totalList: totals.flatMap((same) => addedUp(same) ?? []).toSorted((a, b) => a.period.localeCompare(b.period)),
    ...(left.length === 0 ? {} : { missing: left }),
  } satisfies MoneyReport;
}

const groupNameOf = (site: SiteName, name: string): string => (site.id === 0 ? name : groupNameAt(site, name));

/** The sum of rows of one period; unknown amounts are left out. */
function addedUp<R extends MoneyRow>(rows: readonly R[]): R | undefined {
  const [first, ...others] = rows;
  if (first === undefined) return undefined;
  const plus = (a: number | null, b: number | null): number | null => (a === null ? b : b === null ? a : a + b);
  const sum = { ...first };
  for (const row of others) {
    sum.hours += row.hours;
    sum.profitHours += row.profitHours;
    for (const amount of ["energy", "cost", "revenue", "profit", "revenueBtc", "profitBtc"] as const)
      sum[amount] = plus(sum[amount], row[amount]);
    sum.incomplete ||= row.incomplete;
  }
  return sum;
}

type FarmHistory = Reply<"getSummaryHistory">;
type Point = FarmHistory["points"][number];

const isHistory = (reply: unknown): reply is FarmHistory => isRecord(reply) && Array.isArray(reply.points);

/** The sums of the sites that have the same steps, hash rates of one algorithm, and money of one currency. */
function mergedHistory(parts: readonly [Part, ...Part[]], { currency, missing }: MergeContext): unknown {
  const all = parts.flatMap(({ site, reply }) => (isHistory(reply) ? [{ site, history: reply }] : []));
  const base = all.find(({ history }) => history.points.length > 0)?.history ?? all[0]?.history;
  if (base === undefined) return parts[0].reply;
  const summed = all.filter(({ history }) => history.points.length === 0 || history.step === base.step);
  const left = [
    ...missing,
    ...all.filter((each) => !summed.includes(each)).map(({ site }) => `${site.name} has other steps`),
  ];
  const points = new Map<number, Point>();
  for (const { history } of summed)
    for (const [time, hashrate, power, mining, total, ...money] of history.points) {
      const [revenue, cost, profit] = history.currency === currency ? money : [null, null, null];
      const isSame = history.algorithm === base.algorithm;
      const point: Point = [time, isSame ? hashrate : null, power, mining, total, revenue, cost, profit];
      const before = points.get(time);
      points.set(time, before === undefined ? point : sumOf(before, point));
    }
  return {
    ...base,
    currency,
    algorithms: [...new Set(summed.flatMap(({ history }) => history.algorithms))],
    points: [...points.values()].toSorted(([a], [b]) => a - b),
    ...(left.length === 0 ? {} : { missing: left }),
  } satisfies FarmHistory;
}

function sumOf(a: Point, b: Point): Point {
  const plus = (at: 1 | 2 | 3 | 4 | 5 | 6 | 7): number | null => {
    const [one, other] = [a[at], b[at]];
    return one === null ? other : other === null ? one : one + other;
  };
  return [a[0], plus(1), plus(2), plus(3), plus(4), plus(5), plus(6), plus(7)];
}
