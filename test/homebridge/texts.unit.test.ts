import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { homeKitName, informationText, partName, versionIn } from "../../homebridge/src/accessory-texts.ts";

/** The rule by which HAP-NodeJS checks names, written from HomeKit's guidelines. */
const validName = /^[\p{L}\p{N}][\p{L}\p{N}\p{Zs}’'&!._:;()/,-]*[\p{L}\p{N}]$/u;

test("any name of a rig becomes one that HomeKit accepts", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => {
      const name = homeKitName(text, "Rig");
      expect(name).toMatch(validName);
      expect(name.length).toBeLessThanOrEqual(64);
      const part = partName(name, "restart mining");
      expect(part).toMatch(validName);
      expect(part).toMatch(/ restart mining$/);
      expect(part.length).toBeLessThanOrEqual(64);
    }),
  );
});

test.each([
  ["Garage", "Garage"],
  ["  S19j_Pro #3 (left) ", "S19j_Pro 3 (left"],
  ["Köksminern", "Köksminern"],
  ["🔥", "Rig"],
  ["7", "Rig 7"],
  ["", "Rig"],
  ["Mom's rig.", "Mom's rig"],
  ["x".repeat(300), "x".repeat(64)],
  [`x${"𠮷".repeat(64)}`, `x${"𠮷".repeat(31)}`],
])("%j is called %j", (text, name) => {
  expect(homeKitName(text, "Rig")).toBe(name);
});

test("information has 2 to 64 characters", () => {
  expect(informationText("x", "Mining rig")).toBe("Mining rig");
  expect(informationText("S9", "Mining rig")).toBe("S9");
  expect(informationText("x".repeat(100), "Mining rig")).toHaveLength(64);
  expect(informationText("🔥".repeat(64), "Mining rig")).toBe("🔥".repeat(32));
});

test.each([
  ["v2.4.1-rc2", "2.4.1"],
  ["BOSer 25.07", "25.07"],
  ["2023", "2023"],
  ["unknown", "0"],
])("firmware %j is version %j", (text, version) => {
  expect(versionIn(text)).toBe(version);
});
