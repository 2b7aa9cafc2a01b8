import { expect, test } from "@jest/globals";
import { programEnvironment } from "../../src/agent/environment.ts";
import { type Activity, type Occupation, occupation, unoccupied } from "../../src/agent/idle.ts";
import { afterEnd, noFailures, restartLimits } from "../../src/agent/restart-law.ts";
import { redact } from "../../src/agent/secrets.ts";

const end = { ranMs: 300_000, code: 1, badConfiguration: [2] };

test("waits grow from 10 s to 5 min, and begin anew after ten healthy minutes", () => {
  const waits: number[] = [];
  let failures = noFailures;
  for (const ranMs of [300_000, 300_000, 300_000, 300_000, 300_000, 300_000, 300_000, 600_000, 300_000]) {
    const after = afterEnd({ ...end, ranMs }, failures, restartLimits);
    failures = after.failures;
    if (after.what === "wait") waits.push(after.waitMs / 1000);
  }
  expect(waits).toEqual([10, 20, 40, 80, 160, 300, 300, 10, 20]);
});

test("five quick ends in a row are given up, four with a longer run between are not", () => {
  let failures = noFailures;
  const ends = [1, 1, 1, 1, 200_000, 1, 1, 1, 1, 1].map((ranMs) => {
    const after = afterEnd({ ...end, ranMs }, failures, restartLimits);
    failures = after.failures;
    return after.what;
  });
  expect(ends).toEqual([...Array(9).fill("wait"), "give up"]);
});

test("an exit code that stands for a bad configuration is given up at once, a signal is not", () => {
  expect(afterEnd({ ...end, code: 2 }, noFailures, restartLimits)).toMatchObject({
    what: "give up",
    why: "rejects its configuration (exit code 2)",
  });
  expect(afterEnd({ ...end, code: null }, noFailures, restartLimits).what).toBe("wait");
});

test("the host is occupied by a load of 30 s and free after a minute of quiet", () => {
  const rule = { processes: ["Game"], load: 50 };
  const seen: (string | null)[] = [];
  let now = 0;
  let before: Occupation = unoccupied;
  const look = (load: number | null, names: string[] = []): void => {
    const activity: Activity = { names: new Set(names), load };
    before = occupation(before, rule, activity, now);
    seen.push(before.by);
    now += 10_000;
  };
  const loaded = "other programs use more than 50 % of the processor";
  for (const load of [90, 90, 20, 90, 90, 90]) look(load);
  expect(seen.splice(0)).toEqual([null, null, null, null, null, null]);
  look(90);
  for (let times = 0; times < 6; times += 1) look(10);
  expect(seen.splice(0)).toEqual(Array(7).fill(loaded));
  look(10);
  look(null, ["game"]);
  look(null);
  expect(seen).toEqual([null, "the process Game runs", "the process Game runs"]);
});

test("texts lose secrets, also those that contain others, but not words that happen to contain a short one", () => {
  const secrets = ["secret-one", "secret-one-and-two", "x", "", "abc"];
  expect(redact("a secret-one-and-two b secret-one, x abc abcd -p=abc", secrets)).toBe(
    "a *** b ***, x *** abcd -p=***",
  );
});

test("programs get the variables that drivers need, and none of the agent's own", () => {
  const own = {
    PATH: "/bin",
    HOME: "/home/me",
    LC_ALL: "C",
    CUDA_VISIBLE_DEVICES: "0",
    GPU_MAX_HEAP_SIZE: "100",
    RIGBRIDGE_AGENT_TOKEN: "token",
    AWS_SECRET: "1",
    NODE_OPTIONS: "--inspect",
    LD_PRELOAD: "/x.so",
  };
  expect(programEnvironment(own, "RIGBRIDGE_RUN=1-2")).toEqual({
    PATH: "/bin",
    HOME: "/home/me",
    LC_ALL: "C",
    CUDA_VISIBLE_DEVICES: "0",
    GPU_MAX_HEAP_SIZE: "100",
    CUDA_DEVICE_ORDER: "PCI_BUS_ID",
    RIGBRIDGE_RUN: "1-2",
  });
});
