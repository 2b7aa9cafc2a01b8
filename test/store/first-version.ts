const tables = [
  ...["bulk_action", "bulk_result", "power_memory", "run", "group_energy", "rule_state", "rule_trace", "outbox"],
  ...["source_value", "money_day", "money_total", "session", "farm_sample", "farm_hashrate", "idempotency"],
  "instance",
  ...["curtailment", "curtailment_rig", "curtailment_sample"],
];
const columns = [
  ...["command.cause", "rig_memory.reason", "rig_memory.records"],
  ...["key", "severity", "count", "last", "closed", "uid", "coded"].map((column) => `notification.${column}`),
];

/** SQL that takes back version 15, which counts results, and all later ones. */
export const withoutCounts = [
  "drop trigger bulk_result_added",
  "drop trigger bulk_result_changed",
  ...["done", "failed", "unknown"].map((column) => `alter table bulk_action drop column ${column}`),
  "alter table rule_state drop column times",
  "alter table notification drop column coded",
  "alter table bulk_result drop column before",
  "alter table bulk_action drop column preview",
  "drop table idempotency",
  "drop table instance",
  ...["curtailment", "curtailment_rig", "curtailment_sample"].map((table) => `drop table ${table}`),
  ...["profit", "profit_btc", "compared"].map((column) => `alter table money_day drop column ${column}`),
  "delete from migration where name > 'version-0014'",
  "pragma user_version = 14;",
].join("; ");

/** SQL that removes everything from a store which version 1 did not have. */
export const toFirstVersion = [
  ...tables.map((table) => `drop table ${table}`),
  "drop index command_actor",
  ...columns.map((column) => `alter table ${column.replace(".", " drop column ")}`),
  "delete from migration where name > 'version-0001'",
  "pragma user_version = 1;",
].join("; ");
