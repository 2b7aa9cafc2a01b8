import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { withMethods } from "./client-methods.ts";

// depends on: client/README.md

test("client/README.md lists every method; node test/docs/write-client.ts renews it", () => {
  const page = readFileSync(join(import.meta.dirname, "../../client/README.md"), "utf8");
  expect(page).toContain("**listMiners**");
  expect(page).toBe(withMethods(page));
});
