import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { textLine } from "../../src/cli/text-line.ts";

const line = (fields: object) => textLine(JSON.stringify({ level: 30, time: 0, pid: 1, hostname: "h", ...fields }));

test("a line has its time, level, message and every field", () => {
  expect(
    line({ level: 40, msg: "a miner cannot be reached", miner: 7, address: "10.0.0.1:80", reason: "no answer" }),
  ).toBe('1970-01-01T00:00:00.000Z WARN  a miner cannot be reached miner=7 address=10.0.0.1:80 reason="no answer"');
  expect(line({ msg: "", list: ["a", null], err: { message: "no", stack: "no\n  at x" } })).toBe(
    '1970-01-01T00:00:00.000Z INFO  list=["a",null] err={"message":"no","stack":"no\\n  at x"}',
  );
});

test("what rigs report starts no line and commands no terminal", () => {
  expect(line({ msg: "a\nb\u{1b}[2J\u{202e}", name: "x\r\n\u{9b}" })).toBe(
    '1970-01-01T00:00:00.000Z INFO  a\\nb\\u{1b}[2J\\u{202e} name="x\\r\\n\\u{9b}"',
  );
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (msg, value) => {
      expect(line({ msg, value })).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    }),
  );
});
