import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";

const root = join(import.meta.dirname, "..", "..");

test.each([
  "scripts/run.mjs",
  "examples/systemd/rigbridge.service",
  "packaging/docker/Dockerfile",
  "test/bench/rigs.ts",
])("%s starts the service with the heap that its figures are measured with", (file) => {
  expect(readFileSync(join(root, file), "utf8")).toContain("--max-semi-space-size=4");
});
