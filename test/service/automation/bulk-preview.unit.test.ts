import { expect, test } from "@jest/globals";
import { joinedPreview } from "../../../src/centre/joined-preview.ts";
import { RigbridgeError } from "../../../src/contract/problems.ts";
import { type Pace, type Possible, PreviewSums } from "../../../src/service/automation/bulk-preview.ts";

const stopped = (now: number | null, seconds: number, revenue: number | null = null): Possible => ({
  now,
  after: 0,
  seconds,
  revenue,
});

function previewOf(pace: Pace, miners: readonly Possible[], refused: readonly string[] = []) {
  const sums = new PreviewSums(pace);
  for (const miner of miners) sums.add(miner);
  for (const message of refused) sums.leaveOut(new RigbridgeError("not.possible", message));
  return sums.preview("EUR");
}

test.each<[string, Pace, readonly number[], { half: number; most: number; all: number }]>([
  ["all at once", { parallel: 16, delay: 0 }, Array(10).fill(60), { half: 60, most: 60, all: 60 }],
  ["one after another", { parallel: 1, delay: 0 }, Array(10).fill(60), { half: 300, most: 540, all: 600 }],
  ["with a wait between two starts", { parallel: 16, delay: 5 }, Array(10).fill(60), { half: 80, most: 100, all: 105 }],
  [
    "a slow one, which delays only its own place",
    { parallel: 2, delay: 0 },
    [300, 10, 10, 10],
    { half: 20, most: 300, all: 300 },
  ],
])("the times of a change follow the pace: %s", (_name, pace, seconds, times) => {
  expect(
    previewOf(
      pace,
      seconds.map((each) => stopped(3000, each)),
    ).seconds,
  ).toEqual(times);
});

test("power that is not known is counted apart, and promises nothing", () => {
  const { power, seconds } = previewOf({ parallel: 4, delay: 0 }, [
    stopped(3000, 60),
    stopped(null, 600),
    { now: 1200, after: null, seconds: 600, revenue: null },
  ]);
  expect(power).toEqual({ now: 3000, after: 0, unknown: 2 });
  expect(seconds).toEqual({ half: 60, most: 60, all: 60 });
});

test("without a change there are no times, and nothing is lost", () => {
  const unchanged = { now: 3000, after: 3000, seconds: 240, revenue: 10 };
  expect(previewOf({ parallel: 4, delay: 0 }, [unchanged])).toMatchObject({ seconds: null, revenueLost: null });
});

test("revenue is lost for an hour, in proportion to the power", () => {
  const pace = { parallel: 4, delay: 0 };
  const half = { now: 3000, after: 1500, seconds: 90, revenue: 24 };
  expect(previewOf(pace, [stopped(3000, 60, 48), half]).revenueLost).toBeCloseTo(2.5);
  // A rig that stops earns nothing, also if its power was never measured.
  expect(previewOf(pace, [stopped(null, 60, 48)]).revenueLost).toBeCloseTo(2);
  expect(previewOf(pace, [stopped(3000, 60)]).revenueLost).toBeNull();
});

test("miners that are left out take their turn", () => {
  const sums = new PreviewSums({ parallel: 16, delay: 2 });
  for (let turn = 0; turn < 50; turn += 1) sums.leaveOut(new RigbridgeError("not.possible", "The rig is off"));
  sums.add(stopped(3000, 60));
  expect(sums.preview("EUR").seconds).toEqual({ half: 160, most: 160, all: 160 });
});

test("the reasons of those that are left out are counted, the most frequent first, 20 at most", () => {
  const rare = Array.from({ length: 30 }, (_, index) => `Rare ${index}`);
  const { leftOut } = previewOf({ parallel: 1, delay: 0 }, [], [...rare, "The rig is off", "The rig is off"]);
  expect(leftOut[0]).toEqual({ code: "not.possible", message: "The rig is off", miners: 2 });
  expect(leftOut).toHaveLength(20);
});

test("the previews of several sites are one: nothing is earlier than at the slowest site", () => {
  const pace = { parallel: 1, delay: 0 };
  const one = previewOf(pace, [stopped(3000, 60, 24), stopped(3000, 60, 24)], ["The rig is off"]);
  const other = previewOf(pace, [stopped(1000, 90, 24), stopped(null, 90)], ["The rig is off", "It is busy"]);
  expect(joinedPreview([one, null, other])).toEqual({
    power: { now: 7000, after: 0, unknown: 1 },
    seconds: { half: 90, most: 120, all: 120 },
    revenueLost: 3,
    currency: "EUR",
    leftOut: [
      { code: "not.possible", message: "The rig is off", miners: 2 },
      { code: "not.possible", message: "It is busy", miners: 1 },
    ],
  });
  expect(joinedPreview([one, { ...other, currency: "USD" }])?.revenueLost).toBeNull();
  expect(joinedPreview([null, undefined])).toBeNull();
});
