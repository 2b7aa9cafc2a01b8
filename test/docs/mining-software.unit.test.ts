import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { miningPrograms } from "../../src/catalogue/mining-software.ts";

// depends on: docs/mining-software.md

const text = readFileSync(new URL("../../docs/mining-software.md", import.meta.url), "utf8");

test("docs/mining-software.md lists the programs of the catalogue", () => {
  const rows = miningPrograms.map((entry) => {
    const { command, api, devices, algorithms, dual, download } = entry;
    const cells = [
      `${entry.name} (\`${entry.id}\`)`,
      devices.join(", "),
      api ?? "none",
      String(Object.keys(algorithms).length),
      Object.keys(dual).length > 0 ? "yes" : "no",
      command.spare === null ? "one" : "several",
      download?.version ?? "none",
    ];
    return `| ${cells.join(" | ")} |`;
  });
  const head = [
    "| program | mines with | API read by | algorithms | dual mining | pools | download |",
    "| --- | --- | --- | --- | --- | --- | --- |",
  ];
  expect(text).toContain([...head, ...rows].join("\n"));
});
