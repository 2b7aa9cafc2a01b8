import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";

// depends on: src/**

const folder = new URL("../../../src/", import.meta.url);

test.each(["jsmodbus", "net-snmp"])("%s is loaded only for a device that needs it", (name) => {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  const naming = files.filter((file) => readFileSync(new URL(file, folder), "utf8").includes(`"${name}"`));
  expect(naming.length).toBeGreaterThan(0);
  for (const file of naming)
    expect(readFileSync(new URL(file, folder), "utf8")).not.toMatch(
      new RegExp(`^(import|export) .*from "${name}"`, "m"),
    );
});
