import { describe, expect, test } from "@jest/globals";
import type { Notification } from "../../src/contract/resources.ts";
import { filtered, filtersIn, grouped, queryOf, spanOf } from "../../src/web/pages/alarms/list.ts";

let nextId = 1;
const alarm = (over: Partial<Notification>): Notification => ({
  id: nextId++,
  minerId: 1,
  uid: null,
  minerName: "Rig 1",
  title: "Disconnected",
  timeUtc: "2026-01-01T10:00:00.000Z",
  time: "",
  source: "System",
  message: "It does not answer",
  isAcknowledged: false,
  isWarning: true,
  severity: "warning",
  count: 1,
  lastUtc: "2026-01-01T10:00:00.000Z",
  closedUtc: null,
  ruleId: null,
  coded: { title: null, message: null },
  ...over,
});

describe("the list of alarms", () => {
  test("has open ones first, by severity, unacknowledged before others, newest first", () => {
    const closed = alarm({ title: "closed", severity: "critical", closedUtc: "2026-01-02T00:00:00.000Z" });
    const seen = alarm({ title: "seen", severity: "critical", isAcknowledged: true });
    const old = alarm({ title: "old", severity: "critical" });
    const fresh = alarm({ title: "fresh", severity: "critical", lastUtc: "2026-01-01T11:00:00.000Z" });
    const info = alarm({ title: "info", severity: "info" });
    const titles = grouped([closed, info, seen, old, fresh]).map(({ notifications }) => notifications[0]?.title);
    expect(titles).toEqual(["fresh", "old", "seen", "info", "closed"]);
  });

  test("is open, not acknowledged, over, or everything", () => {
    const open = alarm({ title: "open" });
    const seen = alarm({ title: "seen", isAcknowledged: true });
    const over = alarm({ title: "over", closedUtc: "2026-01-02T00:00:00.000Z" });
    const titles = (state: string) => filtered([open, seen, over], filtersIn({ state })).map(({ title }) => title);
    expect(titles("open")).toEqual(["open", "seen"]);
    expect(titles("unseen")).toEqual(["open"]);
    expect(titles("closed")).toEqual(["over"]);
    expect(titles("all")).toEqual(["open", "seen", "over"]);
  });

  test("groups three and more of a kind, and those of one rule whatever they say", () => {
    const offline = [1, 2, 3].map((minerId) =>
      alarm({ minerId, count: 2, timeUtc: `2026-01-01T0${minerId}:00:00.000Z` }),
    );
    const hot = [1, 2, 3].map((minerId) => alarm({ minerId, ruleId: 7, title: null, message: `${minerId}0 °C` }));
    const two = [alarm({ title: "Login missing" }), alarm({ title: "Login missing" })];
    const groups = grouped([...offline, ...hot, ...two]);
    expect(groups.map(({ notifications }) => notifications.length).sort()).toEqual([1, 1, 3, 3]);
    expect(spanOf(offline)).toEqual({ first: "2026-01-01T01:00:00.000Z", count: 6 });
  });

  test("is filtered by what the page's address says", () => {
    const all = [
      alarm({ minerId: 5, minerName: "Attic", severity: "critical" }),
      alarm({ source: "Rules", message: "Too hot", closedUtc: "2026-01-02T00:00:00.000Z" }),
    ];
    const found = (query: Record<string, string>) =>
      filtered(all, filtersIn(query)).map(({ id }) => all.findIndex((each) => each.id === id));
    expect(found({})).toEqual([0]);
    expect(found({ state: "all" })).toEqual([0, 1]);
    expect(found({ state: "closed", q: "TOO hot" })).toEqual([1]);
    expect(found({ rig: "5" })).toEqual([0]);
    expect(found({ severity: "critical", source: "System" })).toEqual([0]);
    expect(found({ state: "all", source: "Rules", severity: "info" })).toEqual([]);
    expect(filtersIn({ state: "nonsense", rig: "x", severity: "<b>" })).toEqual(filtersIn({}));
  });

  test("keeps its filters in the address", () => {
    const filters = { state: "all", severity: "warning", source: "A & B", rig: 7, text: "50% hot" } as const;
    const query = queryOf(filters);
    expect(filtersIn(Object.fromEntries(new URLSearchParams(query)))).toEqual(filters);
    expect(queryOf(filtersIn({}))).toBe("");
  });
});
