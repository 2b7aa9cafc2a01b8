import { expect, test } from "@jest/globals";
import { changeLine, screen } from "../../src/cli/watch-screen.ts";
import type { MinerStatus } from "../../src/contract/resources.ts";
import type { MinerRow } from "../../src/contract/rows.ts";

const rig = (id: number, name: string, status: MinerStatus): MinerRow => ({
  id,
  name,
  status,
  uid: null,
  group: 0,
  location: null,
  tags: [],
  reason: null,
  hashrate: 1e12,
  expected: null,
  power: 18,
  temperature: 58,
  pool: "pool.example.com",
  coin: null,
  profit: null,
  alarms: null,
  repair: null,
  readAt: null,
  algorithm: "SHA-256",
});
const watched = (...rigs: readonly MinerRow[]) => ({ rigs: new Map(rigs.map((row) => [row.id, row])), lost: null });
const size = { columns: 80, rows: 24 };

test("the screen counts the states, and rigs that need somebody come first", () => {
  const lines = screen(watched(rig(1, "Attic", "Mining"), rig(2, "Garage", "Disconnected")), size, false);
  expect(lines).toEqual([
    "2 rigs: 1 Mining, 1 Disconnected",
    "Name    State         Hash rate  Power  Temp.  Pool",
    "Garage  Disconnected  1.00 TH/s   18 W  58 °C  pool.example.com",
    "Attic   Mining        1.00 TH/s   18 W  58 °C  pool.example.com",
    "Ctrl-C ends",
  ]);
});

test("the state and the figures of a rig whose site cannot be reached are not known", () => {
  const away = { ...rig(1, "Attic", "Mining"), siteUnreachable: "2026-01-01T00:00:00.000Z" };
  expect(screen(watched(away, rig(2, "Garage", "Mining")), size, false)).toEqual([
    "2 rigs: 1 Mining, 1 Unreachable",
    "Name    State        Hash rate  Power  Temp.  Pool",
    "Attic   Unreachable",
    "Garage  Mining       1.00 TH/s   18 W  58 °C  pool.example.com",
    "Ctrl-C ends",
  ]);
  expect(changeLine(rig(1, "Attic", "Mining"), away)).toBe("Attic: Unreachable, was Mining");
});

test("rigs without room are counted, and the screen is never longer than the terminal", () => {
  const many = watched(...Array.from({ length: 1_200 }, (_, id) => rig(id, `rig-${id}`, "Mining")));
  for (const rows of [24, 4]) {
    const lines = screen(many, { columns: 80, rows }, false);
    expect(lines).toHaveLength(rows);
    expect(lines.at(-1)).toBe(`1,${200 - rows + 3} more rigs, see rigbridge list; Ctrl-C ends`);
  }
});

test("a service that does not answer is named on the last line, cut to the terminal", () => {
  const lines = screen({ ...watched(), lost: `It is ${"away".repeat(30)}` }, size, false);
  expect(lines).toEqual(["0 rigs", "", expect.stringMatching(/^It is (away)+.*…$/)]);
  expect(lines[2]).toHaveLength(80);
});

test("a line is printed for a new, removed or changed state, and none for figures", () => {
  const [before, now] = [rig(1, "Garage\u{1b}", "Mining"), rig(1, "Garage\u{1b}", "Disconnected")];
  expect(changeLine(before, now)).toBe("Garage\u{fffd}: Disconnected, was Mining");
  expect(changeLine(undefined, now)).toBe("Garage\u{fffd}: Disconnected");
  expect(changeLine(now, undefined)).toBe("Garage\u{fffd}: removed");
  expect(changeLine(before, { ...before, hashrate: 2e12 })).toBeNull();
});
