import type { Miner } from "./resources.ts";

/**
 * Whether the state of a miner is not known yet: since the service started it has not answered, nor missed enough reads
 * to count as offline. What front ends showed before stays until then.
 */
export const isUnread = ({ hasValidStatus, readings, statusInfo }: Miner): boolean =>
  !hasValidStatus && readings.at === null && statusInfo.statusDisplay === "Starting";
