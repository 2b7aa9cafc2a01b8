/** `event_type` of what is said at `notification`: one that is a warning is told from others. */
export const notificationTypes = ["notification", "warning"] as const;

/** The same at `miner/<uid>/event`. Home Assistant warns of each that it was not told of before. */
export const minerEventTypes = [...notificationTypes, "status", "best_share", "block_found"] as const;
