import { describe, expect, test } from "@jest/globals";
import { entityIdOf, objectIdsOf, slugOf } from "../../../src/mqtt/home-assistant/object-ids.ts";

/** As homeassistant.util.slugify of 2026.11 writes them. */
test.each([
  ["Desk", "desk"],
  ["Rig 1", "rig_1"],
  ["  Barn/Row-2 #3  ", "barn_row_2_3"],
  ["Größe", "grosse"],
  ["Källare Åsa", "kallare_asa"],
  ["Łódź 1", "lodz_1"],
  ["Smørrebrød & Æble", "smorrebrod_aeble"],
  ["Anna’s rig", "annas_rig"],
  ["Anna's rig", "anna_s_rig"],
  ["1,000 TH", "1000_th"],
  ["Café №", "cafe_no"],
])("%s is written %s in ids", (name, slug) => {
  expect(slugOf(name)).toBe(slug);
});

test.each(["🔥", "矿机", "Ферма 1", "ファーム", "_"])("%s gives no id", (name) => {
  expect(slugOf(name)).toBeNull();
});

describe("ids of the entities of several devices", () => {
  const miner = (key: string, name: string) => ({ ...({ kind: "miner", key, name } as const), id: `m-${key}` });
  const group = (key: string, name: string) => ({ ...({ kind: "group", key, name } as const), id: `g-${key}` });
  const idsOf = (...devices: Parameters<typeof objectIdsOf>[0]) => [...objectIdsOf(devices).values()];

  test("are made of the names", () => {
    expect(idsOf(miner("025100000001", "Garage"), group("1", "Sun"))).toEqual(["garage", "sun"]);
  });

  test("differ for devices of one name: the first keeps it", () => {
    const all = [miner("025100000001", "Bitaxe"), miner("025100000002", "bitaxe"), group("1", "Bitaxe!")];
    expect(idsOf(...all)).toEqual(["bitaxe", "bitaxe_025100000002", "bitaxe_1"]);
    expect(idsOf(...all.slice(0, 1))).toEqual(["bitaxe"]);
  });

  test("are made of the uid where the name gives none", () => {
    expect(idsOf(miner("serial-42", "矿机"), group("7", "🔥"))).toEqual(["miner_serial_42", "group_7"]);
  });

  test("end with the name of the entity, if it has one", () => {
    expect(entityIdOf("number", "garage", "Power limit")).toBe("number.garage_power_limit");
    expect(entityIdOf("switch", "garage", null)).toBe("switch.garage");
  });
});
