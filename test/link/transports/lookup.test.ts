import type { LookupOptions } from "node:dns";
import { beforeEach, expect, jest, test } from "@jest/globals";

/** What a name stands for, one answer after the other, as whoever owns the name likes. */
const answers: { address: string; family: number }[][] = [];
const dns = {
  lookup: jest.fn((_name: string, _options: LookupOptions, callback: (...found: unknown[]) => void) =>
    callback(null, answers.shift() ?? []),
  ),
};
jest.unstable_mockModule("node:dns", () => ({ ...dns, default: dns }));
const { rigLookup } = await import("../../../src/link/transports/lookup.ts");

beforeEach(() => {
  answers.length = 0;
});

const v4 = (address: string) => ({ address, family: 4 });
const v6 = (address: string) => ({ address, family: 6 });
const resolved = (all: boolean): Promise<unknown> =>
  new Promise((resolve) => rigLookup("rig.example", { all }, (error, found) => resolve(error?.code ?? found)));

test.each([
  ["link-local", [v4("169.254.169.254")]],
  ["link-local in IPv6 clothes", [v6("::ffff:a9fe:a9fe"), v6("64:ff9b::a9fe:a9fe")]],
  ["multicast, unspecified and a cloud's own", [v4("224.0.0.1"), v4("0.0.0.0"), v6("fd00:ec2::254")]],
  ["nothing", []],
])("a name that stands for %s leads nowhere", async (_what, found) => {
  answers.push(found, found);
  expect([await resolved(true), await resolved(false)]).toEqual(["EFORBIDDEN", "EFORBIDDEN"]);
});

test("of a name's addresses only those are called that may be", async () => {
  answers.push([v4("169.254.169.254"), v4("10.0.0.7")], [v4("169.254.169.254"), v4("10.0.0.7")]);
  expect([await resolved(true), await resolved(false)]).toEqual([[v4("10.0.0.7")], "10.0.0.7"]);
});

test("a name that changes after it was good is looked at again: what is checked is what is called", async () => {
  answers.push([v4("10.0.0.7")], [v4("169.254.169.254")]);
  expect([await resolved(true), await resolved(true)]).toEqual([[v4("10.0.0.7")], "EFORBIDDEN"]);
});
