import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { readEvent, unitsIn, wishAt } from "../../../src/service/curtailment/signals/openadr-events.ts";
import { after, parseDuration, parseTime } from "../../../src/service/curtailment/signals/openadr-time.ts";

const settings = { key: "grid", levels: { moderate: 75, high: 50, emergency: 0 } };
const noon = Date.parse("2026-07-01T12:00:00Z");
const minute = 60_000;

const kw = [{ objectType: "EVENT_PAYLOAD_DESCRIPTOR", payloadType: "DISPATCH_SETPOINT", units: "KW" }];
const event = (more: object, type = "DISPATCH_SETPOINT", ...values: unknown[]) => ({
  id: "e1",
  objectType: "EVENT",
  programID: "p",
  eventName: "Peak",
  createdDateTime: "2026-07-01T08:00:00Z",
  modificationDateTime: "2026-07-01T08:00:00Z",
  payloadDescriptors: kw,
  intervalPeriod: { start: "2026-07-01T12:00:00Z", duration: "PT1H" },
  intervals: [{ id: 0, payloads: [{ type, values }] }],
  ...more,
});

/** What an event asks for at some minutes after noon: its target, or why it is refused. */
function asked(json: object, minutes = 30): unknown {
  const read = readEvent(json, new Map(), settings);
  if (read === null || "problem" in read) return read?.problem ?? null;
  const { wish } = wishAt([read.event], noon + minutes * minute);
  return wish.kind === "run" ? "run" : wish.target;
}

describe("a payload", () => {
  test.each([
    ["DISPATCH_SETPOINT", [2500], { limit: 2_500_000 }],
    ["DISPATCH_SETPOINT", [0], { all: true }],
    ["SIMPLE", [0], "run"],
    ["SIMPLE", [1], { share: 25 }],
    ["SIMPLE", [3], { all: true }],
    ["ALERT_GRID_EMERGENCY", ["shed load"], null],
    ["SIMPLE", [4], "the event Peak has the level 4, which is not 0, 1, 2 or 3"],
    ["DISPATCH_SETPOINT", ["2500"], "the event Peak has no number for DISPATCH_SETPOINT"],
    ["DISPATCH_SETPOINT", [-1], "the event Peak has a negative DISPATCH_SETPOINT"],
    ["IMPORT_CAPACITY_LIMIT", [3], "the event Peak does not state the unit of IMPORT_CAPACITY_LIMIT"],
    ["PRICE", [0.3], null],
  ])("%s %j means %j", (type, values, expected) => {
    expect(asked(event({}, type, ...values))).toEqual(expected);
  });

  test("in percent is from 0 to 1, and other units are refused", () => {
    const unit = (units: string) => ({ payloadDescriptors: [{ ...kw[0], units }] });
    expect(asked(event(unit("PERCENT"), "DISPATCH_SETPOINT", 0.8))).toEqual({ share: 20 });
    expect(asked(event(unit("PERCENT"), "DISPATCH_SETPOINT", 1))).toBe("run");
    expect(asked(event(unit("KWH"), "DISPATCH_SETPOINT", 1))).toMatch(/has the unit KWH for DISPATCH_SETPOINT/);
  });

  test("takes the unit of the program if the event has none", () => {
    const read = readEvent(event({ payloadDescriptors: null }, "DISPATCH_SETPOINT", 5), unitsIn(kw), settings);
    expect(read).toMatchObject({ event: { intervals: [{ asked: { target: { limit: 5000 } } }] } });
  });
});

test("the unit of a report's payload is not that of an event's", () => {
  const report = { objectType: "REPORT_PAYLOAD_DESCRIPTOR", payloadType: "DISPATCH_SETPOINT", units: "KWH" };
  expect([...unitsIn([...kw, report])]).toEqual([["DISPATCH_SETPOINT", "KW"]]);
  expect([...unitsIn([report])]).toEqual([]);
});

describe("the times of an event", () => {
  const two = [
    { id: 0, payloads: [{ type: "SIMPLE", values: [1] }] },
    { id: 1, payloads: [{ type: "SIMPLE", values: [3] }] },
  ];
  test.each([
    [-1, "run"],
    [0, { share: 25 }],
    [59, { share: 25 }],
    [60, { all: true }],
    [120, "run"],
  ])("follow each other: %d minutes", (minutes, expected) => {
    expect(asked(event({ intervals: two }), minutes)).toEqual(expected);
  });

  test.each([
    ["in a zone", { start: "2026-07-01T14:00:00+02:00", duration: "PT1H" }, "0 59"],
    ["without an end", { start: "2026-07-01T12:00:00Z", duration: "P9999Y" }, "0 "],
    ["without a duration", { start: "2026-07-01T12:00:00Z" }, "0 "],
    ["from now", { start: "0001-01-01T00:00:00Z", duration: "PT5H" }, "-240 59"],
  ])("%s", (_, intervalPeriod, expected) => {
    const minutes = [-241, -240, -1, 0, 59, 60, 100_000].filter(
      (each) => asked(event({ intervalPeriod }, "SIMPLE", 3), each) !== "run",
    );
    expect(`${minutes[0]} ${minutes.includes(100_000) ? "" : minutes.at(-1)}`).toBe(expected);
  });

  test.each([
    [{ start: "2026-07-01T12:00:00", duration: "PT1H" }, "has a start that is no time with a zone"],
    [{ start: "2026-07-01T12:00:00Z", duration: "1h" }, "has a duration that is no duration"],
    [{ start: "2026-07-01T12:00:00Z", duration: "PT0S" }, "has an interval of no duration"],
    [{ duration: "PT1H" }, "has an interval without a start"],
  ])("%j are refused", (intervalPeriod, why) => {
    expect(asked(event({ intervalPeriod }, "SIMPLE", 3))).toBe(`the event Peak ${why}`);
  });

  test("are shifted within randomizeStart, by the same time after each restart", () => {
    const at = (key: string) => {
      const intervalPeriod = { start: "2026-07-01T12:00:00Z", duration: "PT1H", randomizeStart: "PT30M" };
      const read = readEvent(event({ intervalPeriod }, "SIMPLE", 3), new Map(), { ...settings, key });
      return read !== null && "event" in read ? (read.event.intervals[0]?.start ?? 0) - noon : Number.NaN;
    };
    const starts = ["a", "b", "c", "d"].map(at);
    expect(starts).toEqual(["a", "b", "c", "d"].map(at));
    expect(new Set(starts).size).toBe(4);
    expect(Math.min(...starts)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...starts)).toBeLessThan(30 * minute);
  });
});

test("of several events, an emergency goes first, then the priority, then the last change", () => {
  const read = (more: object, type: string, value: unknown) => {
    const result = readEvent(event({ ...more }, type, value), new Map(), settings);
    return result !== null && "event" in result ? [result.event] : [];
  };
  const low = read({ id: "low" }, "SIMPLE", 1);
  const newer = read({ id: "newer", modificationDateTime: "2026-07-01T09:00:00Z" }, "SIMPLE", 2);
  const first = read({ id: "first", priority: 3 }, "SIMPLE", 0);
  const emergency = read({ id: "emergency", priority: 9 }, "ALERT_GRID_EMERGENCY", "help");
  const target = (...events: (typeof low)[]) => {
    const { wish } = wishAt(events.flat(), noon);
    return wish.kind === "run" ? "run" : wish.target;
  };
  expect(target(low, newer)).toEqual({ share: 50 });
  expect(target(low, newer, first)).toBe("run");
  expect(target(low, newer, first, emergency)).toBeNull();
});

test("nothing that a server sends breaks the reading of events", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (value, period) => {
      readEvent(value, new Map(), settings);
      readEvent(event({ intervalPeriod: period, intervals: value }), new Map(), settings);
      readEvent(
        event({ intervals: [{ payloads: [{ type: "SIMPLE", values: value }], intervalPeriod: period }] }),
        new Map(),
        settings,
      );
      parseTime(value);
      const duration = parseDuration(value);
      if (duration !== null) after(0, duration);
    }),
  );
});

test("durations have calendar parts", () => {
  const from = Date.parse("2026-01-31T00:00:00Z");
  const text = (duration: string): string => {
    const parsed = parseDuration(duration);
    const end = parsed === null ? null : after(from, parsed);
    return end === null ? "never" : new Date(end).toISOString();
  };
  expect(text("PT1H30M")).toBe("2026-01-31T01:30:00.000Z");
  expect(text("P1W")).toBe("2026-02-07T00:00:00.000Z");
  expect(text("P1Y")).toBe("2027-01-31T00:00:00.000Z");
  expect(text("P9999Y")).toBe("never");
  expect(text("P0Y0M0DT1.5H0M0.25S")).toBe("2026-01-31T01:30:00.250Z");
  expect(text("PT0.02H")).toBe("2026-01-31T00:01:12.000Z");
  for (const wrong of ["", "P", "PT", "-PT1H", "1H", "P1H", "PT.5H", "PT1.2.3S", "P0.5M"])
    expect(parseDuration(wrong)).toBeNull();
});
