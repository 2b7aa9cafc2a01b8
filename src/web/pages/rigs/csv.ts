import { csvOf } from "../../../contract/csv.ts";
import type { Row } from "../../live.ts";

/** What a list of rigs is for a spreadsheet: plain numbers in base units (H/s, W, °C), whatever columns are shown. */
export function csvOfRigs(rows: readonly Row[], groupName: (id: number) => string | undefined): string {
  return csvOf({
    columns: [
      ...["id", "uid", "name", "group", "site", "container", "rack", "slot", "tags", "status", "reason", "hashrate"],
      ...["expected", "power", "temperature", "algorithm", "model", "address", "pool", "worker", "coin", "profit"],
      ...["alarms", "readAt"],
    ],
    rows: rows.map((row) => [
      ...[row.id, row.uid, row.name, groupName(row.group) ?? null],
      ...[row.location?.site ?? null, row.location?.container ?? null],
      ...[row.location?.rack ?? null, row.location?.slot ?? null, row.tags.join(" ")],
      ...[row.status, row.reason, row.hashrate, row.expected, row.power, row.temperature],
      ...[row.algorithm ?? null, row.model ?? null, row.address ?? null, row.pool, row.worker ?? null],
      ...[row.coin, row.profit, row.alarms, row.readAt],
    ]),
  });
}
