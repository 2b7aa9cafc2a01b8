import { expect, test } from "@jest/globals";
import { clockFinding, diskFinding, findingsText } from "../../src/cli/findings.ts";

const now = Date.UTC(2026, 10, 28, 12);

test.each<[string, Parameters<typeof clockFinding>[0], boolean | null]>([
  ["a clock that was never set", { now: 0, isSynchronised: true, ofService: null }, false],
  ["one that differs from the service's", { now, isSynchronised: true, ofService: now - 61_000 }, false],
  ["one of which nothing is known", { now, isSynchronised: null, ofService: null }, null],
  ["one that a time server sets", { now, isSynchronised: true, ofService: now + 2_000 }, true],
])("%s", (_, clock, ok) => {
  expect(clockFinding(clock).ok).toBe(ok);
});

test("little free space is wrong", () => {
  expect(diskFinding("/data", 12e6)).toMatchObject({ ok: false, message: "12 MB free in /data" });
  expect(diskFinding("/data", 5e9)).toMatchObject({ ok: true, message: "5,000 MB free in /data" });
});

test("findings fit 80 columns, and only what is not in order has advice", () => {
  const findings = [
    { subject: "Store", ok: true, message: "in use", advice: "nothing" },
    { subject: "Configuration", ok: false, message: `two\n${"long words ".repeat(12)}\u{1b}`, advice: "correct it" },
  ];
  const text = findingsText(findings, false);
  expect(text).toBe(
    [
      "ok       Store          in use",
      "wrong    Configuration  two",
      "                        long words long words long words long words long words",
      "                        long words long words long words long words long words",
      "                        long words long words \u{fffd}",
      "                        → correct it",
      "",
      "1 thing to repair.",
    ].join("\n"),
  );
  expect(findingsText(findings.slice(0, 1), true)).toBe(
    "\u{1b}[32mok\u{1b}[39m       Store  in use\n\nNothing is wrong.",
  );
});
