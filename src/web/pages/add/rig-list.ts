import Papa from "papaparse";
import type { Input } from "../../../contract/service.ts";
import type { Row } from "../../live.ts";

export type NewRig = Input<"addMiner">;

/** A line of a list of rigs: the rig to add, or the mistake in the line. */
export interface ListedRig {
  /** From 1, like rows in a spreadsheet. */
  readonly line: number;
  readonly rig: NewRig | null;
  readonly problems: readonly string[];
}

/** The columns of a list of rigs, in and out. */
export const columns = [
  "address",
  "name",
  "group",
  "driver",
  "username",
  "password",
  "token",
  "interval",
  "site",
  "container",
  "rack",
  "slot",
  "tags",
] as const;
type Column = (typeof columns)[number];
const places = ["site", "container", "rack", "slot"] as const;

/** Maximum rigs in one list: a longer one is a mistake, or takes an hour to add. */
export const mostRigs = 20_000;

interface Words {
  readonly noAddress: string;
  readonly twice: (values: { line: number }) => string;
  readonly badInterval: string;
  readonly unknownColumn: (values: { name: string }) => string;
  readonly noAddressColumn: string;
  readonly tooMany: string;
}

export interface RigList {
  readonly rigs: readonly ListedRig[];
  /** Mistakes of the list as a whole. */
  readonly problems: readonly string[];
}

/**
 * Reads a table with a header line (comma, semicolon or tab), or bare addresses, one per line. Tags are separated by
 * semicolons or spaces. Checks that only the service can do are left to it.
 */
export function rigListIn(text: string, words: Words): RigList {
  const { data } = Papa.parse<string[]>(text.replace(/^\uFEFF/, ""), { skipEmptyLines: "greedy" });
  if (data.length > mostRigs + 1) return { rigs: [], problems: [words.tooMany] };
  const head = (data[0] ?? []).map((cell) => cell.trim().toLowerCase());
  const hasHead = head.includes("address");
  if (!hasHead && head.length > 1) return { rigs: [], problems: [words.noAddressColumn] };
  const names = hasHead ? head : ["address"];
  const unknown = names.filter((name) => name !== "" && !isColumn(name));
  const seen = new Map<string, number>();
  const rigs = data.slice(hasHead ? 1 : 0).map((cells, index) => {
    const line = index + (hasHead ? 2 : 1);
    const cell = (column: Column) => (cells[names.indexOf(column)] ?? "").trim();
    return listedRig(line, cell, seen, words);
  });
  return { rigs, problems: unknown.map((name) => words.unknownColumn({ name })) };
}

const isColumn = (name: string): name is Column => columns.some((column) => column === name);

function listedRig(line: number, cell: (column: Column) => string, seen: Map<string, number>, words: Words): ListedRig {
  const problems: string[] = [];
  const address = cell("address");
  const before = seen.get(address.toLowerCase());
  if (address === "") problems.push(words.noAddress);
  else if (before !== undefined) problems.push(words.twice({ line: before }));
  else seen.set(address.toLowerCase(), line);
  const interval = Number(cell("interval"));
  if (cell("interval") !== "" && !(interval > 0)) problems.push(words.badInterval);
  const texts = (["name", "group", "driver", "username", "password", "token"] as const).flatMap((column) =>
    cell(column) === "" ? [] : [[column, cell(column)] as const],
  );
  const tags = cell("tags")
    .split(/[;\s]+/)
    .filter((tag) => tag !== "");
  const location = Object.fromEntries(places.map((place) => [place, cell(place) === "" ? null : cell(place)]));
  const rig = {
    address,
    ...Object.fromEntries(texts),
    ...(interval > 0 ? { interval } : {}),
    ...(tags.length === 0 ? {} : { tags }),
    ...(Object.values(location).every((place) => place === null) ? {} : { location }),
  };
  return { line, rig: problems.length === 0 ? (rig as NewRig) : null, problems };
}

/** Quotes a cell that a spreadsheet would run as a formula, because names come from rigs and other people. */
const safe = (cell: string): string => (/^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell);

/** The list of rigs as a file that `rigListIn` reads; it contains no passwords. */
export function rigListOf(rows: Iterable<Row>, groupName: (id: number) => string): string {
  const cells = [...rows].map((row) => [
    row.address ?? "",
    row.name,
    row.group === 0 ? "" : groupName(row.group),
    "",
    "",
    "",
    "",
    "",
    ...places.map((place) => row.location?.[place] ?? ""),
    row.tags.join(";"),
  ]);
  return Papa.unparse({ fields: [...columns], data: cells.map((line) => line.map(safe)) });
}
