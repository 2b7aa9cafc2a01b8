import type { Miner } from "./resources.ts";

/**
 * Whether the state of a miner is not known yet: since the start of the service it has neither answered nor missed
 * enough reads to count as offline. Front ends keep showing the earlier state until then.
 */
export const isUnread = ({ hasValidStatus, readings, statusInfo }: Miner): boolean =>
  !hasValidStatus && readings.at === null && statusInfo.statusDisplay === "Starting";
