import type { RigReadings } from "./readings.ts";

/** Share of its expected hash rate from which a rig counts as working at full rate. */
export const fullShare = 0.9;
/** Seconds of uninterrupted hashing after which the figures of a rig reflect its settings. */
export const settledSeconds = 600;

/**
 * J/H. After a start a rig draws its full power long before it hashes at its full rate, so this is null until the hash
 * rate is near the expected one. A rig that stays below that, or whose expected rate is unknown, has settled after some
 * minutes. `hashingSeconds`: how long it has been hashing without interruption; null if it is not, or if that is
 * unknown.
 */
export function efficiencyOf(
  { hashrate, hashrateExpected, power }: Pick<RigReadings, "hashrate" | "hashrateExpected" | "power">,
  hashingSeconds: number | null,
): number | null {
  if (hashrate === null || hashrate <= 0 || power === null || power <= 0 || hashingSeconds === null) return null;
  const isNear = hashrateExpected !== null && hashrateExpected > 0 && hashrate >= fullShare * hashrateExpected;
  return isNear || hashingSeconds >= settledSeconds ? power / hashrate : null;
}
