/** Names of test files that take long although they are short, for runners without the times of an earlier run. */
export const slowFiles: ReadonlySet<string> = new Set([
  ...["start", "kill", "bulk-kill", "examples-4", "examples-5", "editor", "editor-forms", "real", "second-bridge"],
  ...["matter", "matter-changes", "matter-heater", "lifetime", "switching", "blocked-events", "pending-answers"],
  ...["every-page", "family-faults", "faults", "worker-ends", "quoting", "agreement", "identity", "solar", "unpack"],
  ...["group-energy", "notification-in", "notification-in-real", "miner-in", "page", "package", "serve", "mqtt"],
  ...["commands", "slow-commands", "reading", "bulk", "fleet", "miners", "moved-miner"],
]);
