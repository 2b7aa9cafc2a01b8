import { expect, test } from "@jest/globals";
import { isMeant, nextPosition } from "../../src/web/pages/add/sighted.ts";

const rig = (mac: string | null, serial: string | null) => ({
  identity: { make: null, model: null, firmware: null, hostname: null, mac, serial },
});

test("a rig is meant by a part of its MAC address or serial number, or by a code that contains one of them", () => {
  const known = rig("02:00:00:AA:BB:01", "HTM31-X7K");
  for (const text of [
    "",
    "aa:bb",
    "02-00-00-aa-bb-01",
    "020000AABB01",
    "htm31",
    "SN:HTM31X7K;MODEL=M60",
    "MAC 02:00:00:aa:bb:01",
  ])
    expect([text, isMeant(known, text)]).toEqual([text, true]);
  for (const text of ["03", "HTM32", "02:00:00:aa:bb:02"]) expect([text, isMeant(known, text)]).toEqual([text, false]);
  // By chance, a long code contains a short serial number.
  expect(isMeant(rig(null, "12"), "https://example.org/7123")).toBe(false);
  expect([isMeant(rig(null, null), ""), isMeant(rig(null, null), "a")]).toEqual([true, false]);
});

test("the next position is to the right, then in the next row", () => {
  expect(nextPosition({ row: 1, column: 1 }, 2)).toEqual({ row: 1, column: 2 });
  expect(nextPosition({ row: 1, column: 2 }, 2)).toEqual({ row: 2, column: 1 });
  expect(nextPosition({ row: 1, column: 2 }, undefined)).toEqual({ row: 1, column: 3 });
});
