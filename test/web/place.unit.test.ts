import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { Row } from "../../src/web/live.ts";
import { leaveAt, topAgain } from "../../src/web/pages/rigs/left-at.ts";
import { placeOf } from "../../src/web/pages/rigs/place.ts";

const rig = (id: number, power: number | null): Row => ({
  id,
  uid: null,
  name: `Rig ${id}`,
  group: 0,
  location: null,
  tags: [],
  status: "Mining",
  reason: null,
  hashrate: 1e12,
  expected: 1e12,
  power,
  temperature: 60,
  pool: null,
  coin: null,
  profit: 1,
  alarms: 0,
  readAt: null,
  repair: null,
});
const byPower = (one: Row, other: Row) => (one.power ?? 0) - (other.power ?? 0) || one.id - other.id;
const isListed = ({ power }: Row) => power !== null;

describe("the place of a rig in a list", () => {
  test("is the one that sorting the list gives", () => {
    fc.assert(
      fc.property(
        fc.array(fc.option(fc.integer({ min: 0, max: 5 })), { minLength: 1, maxLength: 30 }),
        fc.nat(),
        (powers, choice) => {
          const rows = powers.map((power, id) => rig(id, power));
          const here = rows[choice % rows.length] ?? rig(0, 0);
          const list = [...new Set([...rows.filter(isListed), here])].sort(byPower);
          const index = list.indexOf(here);
          expect(placeOf(here, rows, isListed, byPower)).toEqual({
            before: index,
            total: rows.filter(isListed).length,
            isListed: here.power !== null,
            previous: list[index - 1] ?? null,
            next: list[index + 1] ?? null,
          });
        },
      ),
    );
  });

  test("stays where the rig would be when a filter no longer lists it", () => {
    const [low, here, high] = [rig(1, 10), rig(2, 20), rig(3, 30)];
    const others = ({ id }: Row) => id !== here.id;
    expect(placeOf(here, [high, here, low], others, byPower)).toEqual({
      before: 1,
      total: 2,
      isListed: false,
      previous: low,
      next: high,
    });
  });
});

describe("a list that appears again", () => {
  const at = (start: number | null) => ({ start, size: 40, visible: 400 });

  test("is as far down as it was left, if that shows the rig that was open", () => {
    leaveAt("?tag=loud", 1000);
    expect(topAgain("?tag=loud", at(1200))).toBe(1000);
    expect(topAgain("?tag=loud", at(null))).toBe(1000);
  });

  test("shows the rig that was open, wherever it is now", () => {
    leaveAt("?tag=loud", 1000);
    expect(topAgain("?tag=loud", at(1400))).toBe(1220);
    expect(topAgain("?tag=loud", at(0))).toBe(0);
    expect(topAgain("", at(2000))).toBe(1820);
  });

  test("begins at its top if it is another one", () => {
    leaveAt("?tag=loud", 1000);
    expect(topAgain("?tag=quiet", at(null))).toBe(0);
  });
});
