import type { PoolAction, PoolReading } from "../../driver.ts";
import type { TolerantReader } from "../../tolerant-reader.ts";

/** The settings of each pool. */
export const slots = [
  {
    name: "primary",
    url: "stratumURL",
    port: "stratumPort",
    user: "stratumUser",
    password: "stratumPassword",
    tls: "stratumTLS",
  },
  {
    name: "fallback",
    url: "fallbackStratumURL",
    port: "fallbackStratumPort",
    user: "fallbackStratumUser",
    password: "fallbackStratumPassword",
    tls: "fallbackStratumTLS",
  },
] as const;

/** A NerdQAxe has an address but no worker for a pool that is not set. The pool in use always counts as set. */
export function isSet(info: TolerantReader, slot: (typeof slots)[number]): boolean {
  const inUse = slots[info.boolean("isUsingFallbackStratum") === true ? 1 : 0];
  return info.text(slot.url, 255) !== null && (slot === inUse || info.text(slot.user, 255) !== null);
}

export function poolsOf(info: TolerantReader): PoolReading[] {
  const onFallback = info.boolean("isUsingFallbackStratum") ?? false;
  const preferred = info.boolean("useFallbackStratum") === true ? 1 : 0;
  return slots.flatMap((slot, index) => {
    const host = info.text(slot.url, 255);
    if (host === null || !isSet(info, slot)) return [];
    const scheme = host.includes("://") ? "" : info.boolean(slot.tls) === true ? "stratum+ssl://" : "stratum+tcp://";
    const port = info.integer(slot.port, { max: 65_535, absent: 0 });
    return {
      index,
      url: `${scheme}${host}${port === null ? "" : `:${port}`}`,
      worker: info.text(slot.user, 255) ?? "",
      status: "enabled" as const,
      active: index === (onFallback ? 1 : 0),
      priority: index === preferred ? 0 : 1,
      quota: null,
      accepted: null,
      rejected: null,
      stale: null,
      devFee: false,
      ...(index === 0 ? { fixed: true } : {}),
    };
  });
}

export function poolActionsOf(info: TolerantReader, pools: readonly PoolReading[]): PoolAction[] {
  const both = pools.length === slots.length;
  const actions: PoolAction[] = both ? ["use", "remove"] : ["use", "add"];
  return both && info.has("useFallbackStratum") ? [...actions, "switch", "prioritize"] : actions;
}
