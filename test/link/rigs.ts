import { expect } from "@jest/globals";
import { parseAddress } from "../../src/link/address.ts";
import { connect } from "../../src/link/connect.ts";
import type { Driver, PoolReading, Reading, Rig } from "../../src/link/driver.ts";
import { type Credentials, type Link, openLink } from "../../src/link/link.ts";
import { SessionEnded } from "../../src/link/session-ended.ts";
import { limits } from "../until.ts";

export const deadline = (ms = limits.waitMs): AbortSignal => AbortSignal.timeout(ms);

/** A driver's rig at an address, no matter what answers there. */
export const rigAt = (
  driver: Driver,
  address: string,
  credentials: Credentials = {},
  monotonicNow?: () => number,
): Rig => connect(driver, openLink(parseAddress(address), credentials, monotonicNow));

/** The link, with these in place of its own. */
export const linkWith = (link: Link, others: Partial<Link>): Link =>
  new Proxy(link, { get: (own, key) => Reflect.get(Object.hasOwn(others, key) ? others : own, key) });

/** Its controls by key, with their present values. */
export const values = (reading: Reading): Record<string, unknown> =>
  Object.fromEntries(reading.controls.map(({ key, value }) => [key, value]));

/** The pool at a place of the list just read. */
export async function poolAt(rig: Rig, index: number): Promise<PoolReading> {
  const { pools } = await rig.read(deadline());
  const pool = pools[index];
  if (pool === undefined) throw new Error(`the rig lists ${pools.length} pools`);
  return pool;
}

/** Shorter to compare: host and worker, `*` for the active one, `-` for one that is switched off. */
export const listed = (reading: Reading): string[] =>
  [...reading.pools]
    .sort((a, b) => a.priority - b.priority)
    .map(
      ({ url, active, status }) =>
        `${active ? "*" : ""}${status === "disabled" ? "-" : ""}${url.replace(/^.*:\/\//, "")}`,
    );

/** A write that met a lost session: it has done nothing, and is done again once the rig was asked which one it is. */
export async function renewed<T>(rig: Rig, write: () => Promise<T>): Promise<T> {
  await expect(write()).rejects.toBeInstanceOf(SessionEnded);
  rig.doubt?.();
  await rig.read(deadline());
  return write();
}
