import { hash, timingSafeEqual } from "node:crypto";

/** `limited`: too many wrong keys from this address. */
export type Verdict = "right" | "wrong" | "missing" | "limited";

export interface KeyCheck {
  /** Checks the key that a client at an address presents, given as `keyDigest` makes it; undefined if it sent none. */
  verdict(presented: string | undefined, address: string): Verdict;
}

/** Wrong keys that an address may send within the window, which is in seconds. */
const allowed = 10;
export const keyWindow = 10;
/** Addresses kept; the oldest is dropped. */
const remembered = 10_000;

/** The number of wrong keys and web hook secrets from each address. */
export function wrongTries(now: () => number = Date.now): (address: string) => Verdict {
  const tries = new Map<string, { count: number; since: number }>();
  return (address) => {
    const last = tries.get(address);
    const current = last !== undefined && now() - last.since < keyWindow * 1000 ? last : { count: 0, since: now() };
    current.count += 1;
    tries.delete(address);
    tries.set(address, current);
    if (tries.size > remembered) tries.delete(tries.keys().next().value ?? "");
    return current.count > allowed ? "limited" : "wrong";
  };
}

/** Whether two digests, as `keyDigest` makes them, are the same; in constant time. */
export const isSameDigest = (one: string, other: string): boolean =>
  timingSafeEqual(Buffer.from(one), Buffer.from(other));

/**
 * Compares digests in constant time. The right key always passes: the owner may share a proxy with an attacker, and keys
 * of 16 characters or more cannot be guessed.
 */
export function keyCheck(key: string, now: () => number = Date.now, wrongFrom = wrongTries(now)): KeyCheck {
  const right = keyDigest(key);
  return {
    verdict: (presented, address) => {
      if (presented === undefined) return "missing";
      return isSameDigest(presented, right) ? "right" : wrongFrom(address);
    },
  };
}

/** The stored form of a user's key: its SHA-256 in hex. */
export const keyDigest = (key: string): string => hash("sha256", key, "hex");

const lastDigests = new WeakMap<object, { readonly key: string; readonly digest: string }>();

/** `keyDigest` of the key that a connection presents, kept for its next request, which presents the same one. */
export function digestOn(connection: object, key: string): string {
  const last = lastDigests.get(connection);
  if (last?.key === key) return last.digest;
  const digest = keyDigest(key);
  lastDigests.set(connection, { key, digest });
  return digest;
}
