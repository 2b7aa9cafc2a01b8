import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "@jest/globals";

// depends on: test/**

const root = fileURLToPath(new URL("../..", import.meta.url));
const files = globSync("test/**/*.{ts,tsx}", { cwd: root }).map((file) => file.replaceAll("\\", "/"));
/** Of proofs and benchmarks, which measure over time. */
const overTime = /^test\/(torture|bench)\//;
const own = "test/architecture/tests.unit.test.ts";

/** Lines of tests that match, as `file: line`. */
const lines = (pattern: RegExp, tests = files): string[] =>
  tests
    .filter((file) => file !== own)
    .flatMap((file) =>
      readFileSync(`${root}/${file}`, "utf8")
        .split("\n")
        .filter((line) => pattern.test(line))
        .map((line) => `${file}: ${line.trim()}`),
    );

const fileOf = (line: string): string => line.slice(0, line.indexOf(": "));

/** Tests that let time pass, and what for: there is no event when nothing happens, or the time itself is tested. */
const sleeping: Readonly<Record<string, string>> = {
  "test/until.ts": "asks again and again where there is no event",
  "test/agent/idle.test.ts": "nothing happens for three looks of the agent",
  "test/centre/cut-lines.ts": "how long a line is cut",
  "test/cli/mqtt.test.ts": "a broker that takes longer than a quick one is waited for",
  "test/mqtt/bridge.test.ts": "the same",
  "test/mqtt/connection.test.ts": "a connection that stays quiet",
  "test/mqtt/commands.test.ts": "the limit of commands in a second, by the broker's clock",
  "test/mqtt/home-assistant/announcer.test.ts": "the quiet after which retained messages count as read",
  "test/nodes/notification-in-real.test.ts": "a file that must not change any more",
  "test/runner/cases/stray.test.ts": "an error after its test",
  "test/runner/cases/starts-child.test.ts": "a child that outlives its test",
  "test/service/events.test.ts": "the interval between two batches",
  "test/web/attacks.test.ts": "a frame of the browser",
};

test("tests let no time pass but where the reason is named", () => {
  const sleeps = lines(/setTimeout\((resolve|done)\b|await (setTimeout|sleep|pause)\(/).map(fileOf);
  const unexplained = sleeps.filter((file) => !overTime.test(file) && sleeping[file] === undefined);
  expect([...new Set(unexplained)]).toEqual([]);
  expect(Object.keys(sleeping).filter((file) => !sleeps.includes(file))).toEqual([]);
});

test("ports and addresses are the process's own, and nothing else is drawn that could be another's", () => {
  const drawn = lines(
    /\brandomInt\b|Math\.random/,
    files.filter((file) => !overTime.test(file)),
  ).map(fileOf);
  expect([...new Set(drawn)].sort()).toEqual([
    // How long a line is cut.
    "test/centre/cut-lines.ts",
    // The name of a bridge in the home; 16 million million of them.
    "test/homebridge/homebridge.ts",
    // A tag, and how much of a file is left.
    "test/service/may-act.test.ts",
    "test/store/opening.test.ts",
  ]);
});

test("the limits against hanging are those of all, and a limit of the product is named where it is tested", () => {
  const named = lines(
    /\b(until|within)\(.*timeoutMs|const soon = \{ timeoutMs/,
    files.filter((file) => !overTime.test(file)),
  );
  expect([...new Set(named.map(fileOf))].sort()).toEqual(
    Object.keys({
      "test/client/away.test.ts": "a service that is gone is noticed within its limit",
      "test/homebridge/away.test.ts": "the same",
      "test/mqtt/notifications.test.ts": "how often counts are read",
    }),
  );
});

test("no test is run again until it passes", () => {
  expect(lines(/retryTimes/)).toEqual([]);
});
