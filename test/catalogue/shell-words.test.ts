import { execFileSync } from "node:child_process";
import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { splitWords } from "../../src/catalogue/parameters.ts";

/** What the shell makes of it; only for texts without anything that it would expand or carry out. */
const byShell = (text: string): string[] =>
  execFileSync("/bin/sh", ["-c", `set -f; set -- ${text}\nfor word; do printf '%s\\0' "$word"; done`], {
    stdio: ["ignore", "pipe", "ignore"],
  })
    .toString()
    .split("\0")
    .slice(0, -1);

(process.platform !== "win32" ? test : test.skip)(
  "parameters are split into the words that a shell makes of them",
  () => {
    const text = fc.string({ unit: fc.constantFrom(..."ab-=1 \t'\"\\'\" "), maxLength: 16 });
    let compared = 0;
    fc.assert(
      fc.property(text, (given) => {
        const split = splitWords(given);
        // An end of quotes is missing, or a backslash has nothing behind it.
        if ("mistake" in split) return;
        compared += 1;
        expect(split.words).toEqual(byShell(given));
      }),
      { numRuns: 300 },
    );
    expect(compared).toBeGreaterThan(50);
  },
);
