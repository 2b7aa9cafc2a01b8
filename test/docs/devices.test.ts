import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { drivers } from "../../src/link/drivers/index.ts";
import { devicesText } from "./devices.ts";
import { specimens } from "./specimens.ts";

// depends on: docs/devices.md

const spaces = (text: string): string => text.replace(/[ -]+/g, " ").trim();

test("docs/devices.md lists what the drivers read and offer; npm run devices -- --write renews it", async () => {
  const written = readFileSync(join(import.meta.dirname, "../../docs/devices.md"), "utf8");
  // Alignment of tables does not matter.
  expect(spaces(written)).toBe(spaces(await devicesText()));
});

test("there is a specimen for every driver", () => {
  const shown = new Set(specimens.map(({ driver }) => driver));
  expect(drivers.map(({ id }) => id).filter((id) => !shown.has(id))).toEqual([]);
});
