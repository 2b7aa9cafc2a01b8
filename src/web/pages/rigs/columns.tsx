import type { ComponentChildren } from "preact";
import { now } from "../../clock.ts";
import { wordText } from "../../driver-words.ts";
import * as format from "../../format.ts";
import { t } from "../../language.ts";
import type { Row } from "../../live.ts";
import { reasonText, Stale, Status } from "../../parts/status.tsx";
import { currency } from "../../session.ts";
import type { ColumnKey } from "./column-keys.ts";
import { performanceOf, sitesOf } from "./filter.ts";
import type { GroupTree } from "./groups.ts";

/** How a column is sorted, displayed and exported. */
export interface Column {
  /** Numbers before unknown values, texts by name. */
  readonly value: (row: Row, tree: GroupTree) => string | number | null;
  /** By default the value, as text. */
  readonly cell?: (row: Row, tree: GroupTree) => ComponentChildren;
  /** rem */
  readonly width: number;
  /** Row columns that it needs besides the default ones. */
  readonly fields?: readonly (keyof Row)[];
  readonly isNumber?: true;
}

type Figure = (value: number | null | undefined, row: Row) => string;

/** A reading, with its age if outdated; empty for a rig that cannot be reached. */
const reading = (read: (row: Row) => number | null | undefined, show: Figure, width = 6.25): Column => ({
  value: (row) => read(row) ?? null,
  cell: (row) => {
    const value = read(row);
    if (value === null || value === undefined) return format.unknown;
    return row.readAt === null ? (
      show(value, row)
    ) : (
      <span class="old" title={t.rigs.asOf({ time: format.dateTime(row.readAt) })}>
        {show(value, row)}
      </span>
    );
  },
  width,
  isNumber: true,
});

const figure = (field: keyof Row & ("rejected" | "bestShare" | "powerLimit" | "energy"), show: Figure): Column => ({
  ...reading((row) => row[field], show),
  fields: [field],
});

const text = (
  read: (row: Row) => string | null | undefined,
  width = 9,
  fields: readonly (keyof Row)[] = [],
): Column => ({
  value: (row) => read(row) ?? null,
  width,
  fields,
});

const amount: Figure = (value) => format.money(value, currency());
const plain: Figure = (value) => format.scaled(value, "");
const age = (startedAt: string | null | undefined): number | null =>
  startedAt === null || startedAt === undefined ? null : (now.value - Date.parse(startedAt)) / 1000;

export const columns: Readonly<Record<ColumnKey, Column>> = {
  name: {
    value: ({ name }) => name,
    width: 12.5,
  },
  status: {
    // Rigs with the same status by their reason.
    value: ({ status, reason }) => `${t.status[status]} ${reason === null ? "" : reasonText(reason)}`,
    cell: ({ status, reason, readAt, repair }) => (
      <div class="status-cell">
        <Status status={status} />
        {repair === null ? null : <small>{t.repair.title}</small>}
        {reason === null && readAt === null ? null : (
          <small>
            {reason === null ? null : reasonText(reason)}
            {reason === null || readAt === null ? null : " · "}
            <Stale readAt={readAt} />
          </small>
        )}
      </div>
    ),
    width: 9.5,
  },
  hashrate: reading(
    ({ hashrate }) => hashrate,
    (value, { algorithm }) => format.hashrate(value, algorithm),
    6.75,
  ),
  performance: reading(performanceOf, (value) => format.percent(value), 7),
  power: reading(
    ({ power }) => power,
    (value) => format.power(value),
  ),
  efficiency: {
    ...reading(({ efficiency }) => efficiency, format.efficiency, 7),
    fields: ["efficiency"],
  },
  temperature: reading(
    ({ temperature }) => temperature,
    (value) => format.temperature(value),
    7.25,
  ),
  alarms: {
    value: ({ alarms }) => alarms,
    cell: ({ alarms }) => format.number(alarms),
    width: 5.5,
    isNumber: true,
  },
  repair: text(({ repair }) => (repair === null ? null : repair.note || t.repair.title), 14),
  pool: text(({ pool }) => pool, 11),
  worker: text(({ worker }) => worker, 10),
  coin: text(({ coin }) => coin, 5),
  algorithm: text(({ algorithm }) => algorithm, 7.5),
  profit: {
    ...reading(({ profit }) => profit, amount),
    width: 7.75,
    cell: (row) => <span class={row.profit !== null && row.profit < 0 ? "loss" : ""}>{amount(row.profit, row)}</span>,
  },
  revenue: { ...reading(({ revenue }) => revenue, amount), fields: ["revenue"] },
  cost: { ...reading(({ cost }) => cost, amount), fields: ["cost"] },
  energy: figure("energy", (value) => format.energy(value)),
  uptime: {
    // By start time, so that a passing second does not change the order.
    value: ({ startedAt }) => (startedAt === null || startedAt === undefined ? null : -Date.parse(startedAt)),
    cell: ({ startedAt }) => format.duration(age(startedAt)),
    width: 7,
    fields: ["startedAt"],
    isNumber: true,
  },
  rejected: figure("rejected", (value) => format.percent(value, 2)),
  bestShare: figure("bestShare", plain),
  powerLimit: figure("powerLimit", (value) => format.power(value)),
  mode: text(({ mode }) => mode && wordText(mode), 7, ["mode"]),
  model: text(({ model }) => model, 9.5),
  software: text(({ software }) => software, 9, ["software"]),
  address: text(({ address }) => address, 10.5),
  group: { value: ({ group }, tree) => tree.nameOf(group) ?? null, width: 9 },
  tags: {
    value: ({ tags }) => (tags.length === 0 ? null : tags.join(", ")),
    cell: ({ tags }) =>
      tags.map((tag) => (
        <bdi key={tag} class="tag">
          {tag}
        </bdi>
      )),
    width: 9,
  },
  site: { value: (row, tree) => sitesOf(row, tree).join(" · ") || null, width: 9 },
  container: text(({ location }) => location?.container),
  rack: text(({ location }) => location?.rack, 6),
  slot: text(({ location }) => location?.slot, 6),
  uid: text(({ uid }) => uid, 14),
};

/** The content of a cell. */
export function cellOf(key: ColumnKey, row: Row, tree: GroupTree): ComponentChildren {
  const { cell, value } = columns[key];
  if (cell !== undefined) return cell(row, tree);
  const plain = value(row, tree);
  return plain === null ? format.unknown : <bdi title={String(plain)}>{plain}</bdi>;
}

/** The sort order of a column: unknown values last in both directions, equal ones by name. */
export function compareBy(key: ColumnKey, descending: boolean, tree: GroupTree): (one: Row, other: Row) => number {
  const { value } = columns[key];
  const sign = descending ? -1 : 1;
  const byId = (one: Row, other: Row) => format.byName(one.name, other.name) || one.id - other.id;
  if (key === "name") return (one, other) => sign * byId(one, other);
  return (one, other) => {
    const [first, second] = [value(one, tree), value(other, tree)];
    if (first === second) return byId(one, other);
    if (first === null) return 1;
    if (second === null) return -1;
    const order =
      typeof first === "number" && typeof second === "number"
        ? first - second
        : format.byName(String(first), String(second));
    return sign * order || byId(one, other);
  };
}
