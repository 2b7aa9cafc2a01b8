import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { escapes, fill, fillJson } from "../../../src/service/notifications/fill.ts";
import { isQuiet } from "../../../src/service/notifications/quiet.ts";

describe("a text of a channel", () => {
  test("holds any value as it is, in JSON, in HTML and in an address", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (title) => {
        expect(JSON.parse(fill('{"a":"x {{title}} y"}', { title }, escapes.json))).toEqual({ a: `x ${title} y` });
        expect(JSON.parse(JSON.stringify(fillJson({ a: ["{{title}}"] }, { title }, escapes.plain)))).toEqual({
          a: [title],
        });
        expect(fill("<b>{{title}}</b>", { title }, escapes.html).slice(3, -4)).not.toMatch(/[<>]/);
        const { hash, search, pathname } = new URL(fill("http://a/b/{{title}}/c", { title: `x${title}` }, escapes.url));
        expect([hash, search, pathname.split("/").length]).toEqual(["", "", 4]);
      }),
    );
  });

  test("fills in no value of a value, leaves out what is not set, and keeps numbers", () => {
    const values = { title: "{{token}}", token: "secret", priority: 5 };
    expect(fill("{{title}} {{ unknown }}!", values, escapes.plain)).toBe("{{token}} !");
    expect(fillJson({ a: "{{priority}}", b: "{{tag}}", c: "p {{priority}}" }, values, escapes.plain)).toEqual({
      a: 5,
      c: "p 5",
    });
  });
});

describe("quiet hours", () => {
  const at = (time: string) => Date.parse(`2026-03-29T${time}:00Z`);
  const night = { from: "22:00", to: "07:00", timeZone: "UTC", except: "critical" } as const;

  test.each([
    ["21:59", false],
    ["22:00", true],
    ["00:00", true],
    ["06:59", true],
    ["07:00", false],
  ])("from 22:00 to 07:00 at %s: %s", (time, quiet) => {
    expect(isQuiet(night, "warning", at(time), undefined)).toBe(quiet);
    expect(isQuiet(night, "critical", at(time), undefined)).toBe(false);
    expect(isQuiet({ ...night, except: "none" }, "critical", at(time), undefined)).toBe(quiet);
    expect(isQuiet(undefined, "info", at(time), undefined)).toBe(false);
  });

  test("are by the clock on the wall, also on the day on which it changes", () => {
    // Berlin is at UTC+1 until 02:00, and at UTC+2 from 03:00 on.
    const berlin = { ...night, timeZone: "Europe/Berlin" };
    expect([at("04:59"), at("05:00")].map((now) => isQuiet(berlin, "info", now, undefined))).toEqual([true, false]);
    const { timeZone: _, ...display } = night;
    expect(isQuiet(display, "info", at("05:00"), "Europe/Berlin")).toBe(false);
    expect(isQuiet({ ...night, from: "13:00", to: "14:00" }, "info", at("13:30"), undefined)).toBe(true);
  });
});
