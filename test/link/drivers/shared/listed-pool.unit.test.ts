import { expect, test } from "@jest/globals";
import type { PoolReading } from "../../../../src/link/driver.ts";
import { isSameUrl, listedEntry, listedPool } from "../../../../src/link/drivers/shared/listed-pool.ts";

const pool = (index: number, url: string, worker = "w", devFee = false): PoolReading => ({
  index,
  url,
  worker,
  devFee,
  status: "enabled",
  active: false,
  priority: index,
  quota: null,
  accepted: null,
  rejected: null,
  stale: null,
});

test("a pool is found at its index", () => {
  const pools = [pool(0, "a:1"), pool(1, "a:1")];
  expect(listedPool(pools, pool(1, "a:1"))).toBe(pools[1]);
});

test("a pool that moved is found by its URL and worker", () => {
  const pools = [pool(0, "a:1"), pool(1, "b:1")];
  expect(listedPool(pools, pool(2, "stratum+tcp://B:1/"))).toBe(pools[1]);
});

test.each([
  ["is gone", [pool(0, "b:1")]],
  ["has another worker", [pool(0, "a:1", "other")]],
  ["is listed twice at other indexes", [pool(1, "a:1"), pool(2, "a:1")]],
])("a pool that %s is not possible", (_, pools) => {
  expect(() => listedPool(pools, pool(0, "a:1"))).toThrow(expect.objectContaining({ code: "not.possible" }));
});

test("a pool of the firmware's maker is refused", () => {
  const fee = pool(0, "fee:1", "w", true);
  expect(() => listedPool([fee], fee)).toThrow(expect.objectContaining({ code: "not.possible" }));
});

test("an entry of a stored list is found by its position", () => {
  const entries = ["a:1", "b:1"].map((url) => ({ url, user: "w" }));
  const placeOf = ({ url, user }: { url: string; user: string }) => ({ url, worker: user });
  expect(listedEntry(entries, pool(1, "b:1"), placeOf)).toBe(entries[1]);
});

test("ports tell URLs apart", () => {
  expect(isSameUrl("stratum+tcp://a:1", "stratum+tcp://a:2")).toBe(false);
});
