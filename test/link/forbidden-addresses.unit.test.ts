import { expect, test } from "@jest/globals";
import { lookupThrough } from "../../src/link/forbidden-addresses.ts";

type Addresses = { readonly address: string; readonly family: number }[];

/** A name whose owner gives these answers, one after the other; resolves it with `all` or without. */
function named(...answers: readonly Addresses[]): (all: boolean) => Promise<unknown> {
  const left = [...answers];
  const lookup = lookupThrough((_name, _options, callback) => callback(null, left.shift() ?? []));
  return (all) =>
    new Promise((resolve) => lookup("rig.example", { all }, (error, found) => resolve(error?.code ?? found)));
}

const v4 = (address: string) => ({ address, family: 4 });
const v6 = (address: string) => ({ address, family: 6 });

test.each([
  ["link-local", [v4("169.254.169.254")]],
  ["link-local in IPv6 clothes", [v6("::ffff:a9fe:a9fe"), v6("64:ff9b::a9fe:a9fe"), v6("64:ff9b:1:a9fe:a9:fe00::")]],
  [
    "multicast, unspecified and a cloud's own",
    [v4("224.0.0.1"), v4("0.0.0.0"), v6("fd00:ec2::254"), v6("fd20:ce::254"), v4("192.0.0.192")],
  ],
  ["nothing", []],
])("a name that stands for %s leads nowhere", async (_what, found) => {
  const resolved = named(found, found);
  expect([await resolved(true), await resolved(false)]).toEqual(["EFORBIDDEN", "EFORBIDDEN"]);
});

test("of a name's addresses only allowed ones are used", async () => {
  const both = [v4("169.254.169.254"), v4("10.0.0.7")];
  const resolved = named(both, both);
  expect([await resolved(true), await resolved(false)]).toEqual([[v4("10.0.0.7")], "10.0.0.7"]);
});

test("a name whose address changes is checked again: the checked address is the one used", async () => {
  const resolved = named([v4("10.0.0.7")], [v4("169.254.169.254")]);
  expect([await resolved(true), await resolved(true)]).toEqual([[v4("10.0.0.7")], "EFORBIDDEN"]);
});
