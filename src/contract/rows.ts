import { z } from "zod";
import { type Readings, ReasonCode } from "./readings.ts";
import { Location, type Miner, type MinerStatus, minerStatuses, Position, Repair, Uid } from "./resources.ts";

/** The source of a row's columns; values that only some columns need may be getters. */
export interface RowSource
  extends Pick<Miner, "id" | "uid" | "name" | "groupId" | "location" | "hostname" | "hostDescription"> {
  readonly tags: readonly string[];
  readonly status: MinerStatus;
  readonly hardware: string;
  readonly softwareType: string;
  readonly reason: ReasonCode | null;
  readonly readings: RowReadings;
  /** Values that only the whole reading has. */
  readonly details: Pick<Readings, "powerLimit" | "mode" | "bestShare" | "shares">;
  /** Host of the active pool, and the worker there; "" if unknown. */
  readonly pool: string;
  readonly worker: string;
  /** Short name, "" if unknown. */
  readonly coin: string;
  readonly algorithm: string;
  readonly money: Pick<Miner["money"], "revenuePerDay" | "costPerDay" | "profitPerDay">;
  readonly alarms: number | null;
  readonly repair: Repair | null;
  readonly placeId: number | null;
  readonly position: Position | null;
}

/** Columns that a row has only where they say something. */
const optionalColumns: ReadonlySet<RowColumn> = new Set(["siteUnreachable"]);

type RowReadings = Pick<
  Readings,
  | ("at" | "stale" | "hashrate" | "hashrateAverage" | "hashrateExpected" | "power" | "temperature")
  | ("efficiency" | "startedAt" | "energy")
>;

const text = (words: string) => z.string().nullable().describe(words);
const figure = (words: string) => z.number().nullable().describe(words);

/** The columns of a list without `fields`. */
const UsualRow = z.object({
  id: z.int(),
  uid: Uid.nullable(),
  name: z.string(),
  group: z.int().describe("id of its group; 0 = no group"),
  location: Location.nullable().describe("null if no part of it is given"),
  tags: z.array(z.string()),
  status: z.enum(minerStatuses),
  reason: ReasonCode.nullable().describe("why it is not hashing"),
  hashrate: figure("H/s, four digits"),
  expected: figure("expected hash rate, H/s, four digits"),
  power: figure("W, four digits, to a tenth"),
  temperature: figure("°C of the hottest board"),
  pool: text("host of the active pool"),
  coin: text("short name of the coin"),
  profit: figure("per day, in the display currency, four digits"),
  alarms: z.int().nullable().describe("number of its open notifications"),
  readAt: z.iso.datetime().nullable().describe("when it was last read, if its last read failed; else null"),
  repair: Repair.nullable().default(null).describe("its repair; null if it is not in repair"),
  siteUnreachable: z.iso
    .datetime()
    .optional()
    .describe("since when its site cannot be reached, so that the row is as it was then; absent if it can"),
});

/** Those that `fields` adds. */
const furtherColumns = {
  model: text("make and model"),
  software: text("firmware or mining software"),
  hostname: text("host of its address"),
  address: text("host:port"),
  algorithm: text("what it mines"),
  worker: text("worker at the active pool"),
  hashrateAverage: figure("H/s, four digits"),
  efficiency: figure("J/H, four digits"),
  startedAt: z.iso.datetime().nullable().describe("when mining started, from which the uptime follows"),
  powerLimit: figure("W"),
  mode: text("power mode"),
  rejected: figure("share of rejected shares, 0 to 1, four digits"),
  bestShare: figure("difficulty of the best share"),
  revenue: figure("per day, in the display currency, four digits"),
  cost: figure("of electricity per day, four digits"),
  energy: z.int().nullable().describe("Wh so far"),
  place: z.int().nullable().describe("id of its place"),
  position: Position.nullable().describe("where it is in its place"),
};

/** A miner as a row of a table; null = unknown. With `fields` it has its id and these columns alone. */
export const MinerRow = UsualRow.extend(z.object(furtherColumns).partial().shape);
export interface MinerRow extends z.infer<typeof MinerRow> {}
export type RowColumn = keyof MinerRow;

export const usualColumns: readonly RowColumn[] = UsualRow.keyof().options;
/** Those of the usual columns that every complete row has. */
export const requiredColumns: readonly RowColumn[] = usualColumns.filter((column) => !optionalColumns.has(column));
export const rowColumnNames = MinerRow.keyof().options;

/** Four digits, as in a table; with more, nearly every read would change a row. */
const short = (value: number | null): number | null => (value === null ? null : Number(value.toPrecision(4)));
const tenths = (value: number | null): number | null => (value === null ? null : Math.round(value * 10) / 10);
const known = (value: string): string | null => (value === "" ? null : value);
const given = (location: Location): Location | null =>
  Object.values(location).some((part) => part !== null) ? location : null;

function rejectedShare({ accepted, rejected }: Readings["shares"]): number | null {
  if (accepted === null || rejected === null || accepted + rejected === 0) return null;
  return short(rejected / (accepted + rejected));
}

type Readers = {
  readonly [K in RowColumn]-?: (
    source: RowSource,
  ) => K extends "siteUnreachable" ? undefined : Exclude<MinerRow[K], undefined>;
};

/** The content of each column. */
export const rowReaders: Readers = {
  id: ({ id }) => id,
  uid: ({ uid }) => uid,
  name: ({ name }) => name,
  group: ({ groupId }) => groupId,
  location: ({ location }) => given(location),
  tags: ({ tags }) => [...tags],
  status: ({ status }) => status,
  reason: ({ reason }) => reason,
  hashrate: ({ readings }) => short(readings.hashrate),
  expected: ({ readings }) => short(readings.hashrateExpected),
  power: ({ readings }) => short(tenths(readings.power)),
  temperature: ({ readings }) => tenths(readings.temperature),
  pool: ({ pool }) => known(pool),
  coin: ({ coin }) => known(coin),
  profit: ({ money }) => short(money.profitPerDay),
  alarms: ({ alarms }) => alarms,
  readAt: ({ readings }) => (readings.stale ? readings.at : null),
  repair: ({ repair }) => repair,
  // The rigs of the service itself are always within reach.
  siteUnreachable: () => undefined,
  model: ({ hardware }) => known(hardware),
  software: ({ softwareType }) => known(softwareType),
  hostname: ({ hostname }) => known(hostname),
  address: ({ hostDescription }) => known(hostDescription),
  algorithm: ({ algorithm }) => known(algorithm),
  worker: ({ worker }) => known(worker),
  hashrateAverage: ({ readings }) => short(readings.hashrateAverage),
  efficiency: ({ readings }) => short(readings.efficiency),
  startedAt: ({ readings }) => readings.startedAt,
  powerLimit: ({ details }) => details.powerLimit,
  mode: ({ details }) => details.mode,
  rejected: ({ details }) => rejectedShare(details.shares),
  bestShare: ({ details }) => details.bestShare,
  revenue: ({ money }) => short(money.revenuePerDay),
  cost: ({ money }) => short(money.costPerDay),
  energy: ({ readings }) => readings.energy,
  place: ({ placeId }) => placeId,
  position: ({ position }) => position,
};

export const MinerRowList = z.object({
  version: z.string().describe("for `since`, and for `after` and `Last-Event-ID` of GET /api/events"),
  whole: z.boolean().describe("true: `miners` are all of them; false: those that have changed since that version"),
  miners: z.array(MinerRow),
  removed: z
    .array(z.int())
    .describe("ids of miners that are gone, that the caller no longer sees, or that no longer match the filters"),
});
export interface MinerRowList extends z.infer<typeof MinerRowList> {}

/** The columns of a request: the id and its fields, in the order of the table. */
export const columnsFor = (fields: readonly string[] | undefined): readonly RowColumn[] =>
  fields === undefined ? usualColumns : rowColumnNames.filter((name) => name === "id" || fields.includes(name));

/** The columns that a complete row requires, as its type states. */
export const completeFields = ({ fields }: { readonly fields?: readonly RowColumn[] | undefined }) => ({
  fields: fields && [...new Set([...usualColumns, ...fields])],
});

/** A row with these columns. */
export const rowWith = (
  columns: readonly RowColumn[],
  value: (column: RowColumn) => unknown,
): Record<string, unknown> => Object.fromEntries(columns.map((column) => [column, value(column)]));

/** A miner as a row with all columns, for a service without rows. */
export function rowOf(miner: Miner, alarms: number | null): MinerRow {
  const source = sourceOf(miner, alarms);
  return MinerRow.parse(rowWith(rowColumnNames, (column) => rowReaders[column](source)));
}

/** The source of this miner's columns. */
export function sourceOf(miner: Miner, alarms: number | null): RowSource {
  const { statusInfo, coinInfo, readings, poolList, pool } = miner;
  const active = poolList
    .filter(({ additionalInfo }) => additionalInfo.displayUrl.startsWith(pool))
    .toSorted((one, other) => one.priorityInfo.priority - other.priorityInfo.priority);
  return {
    ...miner,
    status: statusInfo.statusDisplay,
    reason: readings.reason?.code ?? null,
    details: readings,
    worker: pool === "" ? "" : (active[0]?.additionalInfo.worker ?? ""),
    coin: coinInfo.shortName,
    algorithm: coinInfo.algorithm,
    alarms,
    repair: miner.repair ?? null,
    placeId: miner.placeId ?? null,
    position: miner.position ?? null,
  };
}
