import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { isReport } from "../../src/discovery/rig-reports.ts";

const sender = "192.168.1.5";
const is = (text: string, from = sender): boolean => isReport(Buffer.from(text, "latin1"), from);

test.each([
  "192.168.1.5,C2:11:22:33:44:55",
  "192.168.1.5,c21122334455",
  "[192.168.1.5/255.255.255.0,C2:11:22:33:44:55",
  "[192.168.1.5/24,C2-11-22-33-44-55]",
  "IP:192.168.1.5MAC:C2:11:22:33:44:55\u0001",
])("%j is a report of 192.168.1.5", (text) => {
  expect(is(text)).toBe(true);
  expect(is(text, "192.168.1.6")).toBe(false);
});

test.each([
  ["nothing", ""],
  ["an acknowledgement", "OK\0\0\0\0\0\0\0\0"],
  ["an address alone", "192.168.1.5"],
  ["half of a MAC address", "192.168.1.5,C2:11:22"],
  ["a report behind something else", "x192.168.1.5,C2:11:22:33:44:55"],
  ["another device's report", "192.168.1.55,C2:11:22:33:44:55"],
  ["a report that is far too long", `192.168.1.5,C2:11:22:33:44:55${" ".repeat(200)}`],
])("%s is none", (_, text) => {
  expect(is(text)).toBe(false);
});

test.each(["8.8.8.8", "169.254.1.5", "0.0.0.0", "224.0.0.1"])("%s cannot report itself", (ip) => {
  expect(is(`${ip},C2:11:22:33:44:55`, ip)).toBe(false);
});

test("whatever arrives, it is a report or not, and a report only of its sender", () => {
  const piece = fc.constantFrom("IP:", "[", sender, "192.168.1.6", "/24", ",", "MAC:", "C2:11:22:33:44:55", "\0", "é");
  const parts = fc.oneof(
    fc.array(piece).map((all) => Buffer.from(all.join(""))),
    fc.uint8Array({ maxLength: 300 }),
  );
  fc.assert(
    fc.property(parts, (bytes) => {
      const found = isReport(Buffer.from(bytes), sender);
      expect(found && !Buffer.from(bytes).includes(sender)).toBe(false);
    }),
  );
});
