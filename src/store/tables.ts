import type { Generated } from "kysely";
import type { bulkStates, CommandState, jobStates, Severity } from "../contract/resources.ts";
import type { OutboxRow } from "./resources.ts";

/**
 * The tables of the store, created by migrations.ts. They are STRICT, so SQLite itself enforces the column types; JSON
 * columns are checked by a schema when they are read. Times are epoch ms, flags 0 and 1.
 */
export interface Tables {
  /** The rows of all collections: small, and read once at opening, so a JSON document each is enough. */
  resource: {
    collection: string;
    id: number;
    owner: "file" | "store";
    /** Its key in the configuration file; null for one added over the API. */
    key: string | null;
    disabled: number;
    /** JSON */
    value: string;
  };
  /** One row: the name of this store. */
  instance: { name: string };
  /** The learned power of a rig, and the data for its rules; JSON. */
  power_memory: { miner_id: number; value: string };
  /** The run of the service that last used the store, and how much it sent (run-mark.ts). One row. */
  run: { only: number; id: string; sent: number; time: number };
  /** The last id of a collection, so that none is reused. */
  sequence: { collection: string; last: number };
  notification: {
    id: Generated<number>;
    time: number;
    miner_id: number | null;
    miner_name: string;
    title: string | null;
    source: string;
    message: string;
    is_warning: number;
    is_acknowledged: number;
    /** Null for an event, which closes at once. */
    key: string | null;
    severity: Severity;
    count: number;
    last: number;
    /** Null while it is open. */
    closed: number | null;
    uid: string | null;
    /** Codes of title and message, JSON; null if neither has one. */
    coded: string | null;
  };
  /** Messages to channels, before they are sent. */
  outbox: {
    id: number;
    channel: string;
    /** Of the notification; null once its recovery is known. */
    key: string | null;
    event: OutboxRow["event"];
    severity: Severity;
    title: string;
    message: string;
    miner: string;
    miner_group: string;
    time: number;
    over: string | null;
    alarm_time: number | null;
    batch: number | null;
    state: OutboxRow["state"];
    tries: number;
    due: number;
    ended: number | null;
    error: string | null;
  };
  command: {
    id: Generated<number>;
    time: number;
    updated: number;
    miner_id: number;
    miner_name: string;
    actor: string;
    action: string;
    /** JSON */
    parameters: string;
    state: CommandState;
    message: string;
    /** JSON: the run that it belongs to; null for a command sent by a person or a loop. */
    cause: string | null;
  };
  /** Runs of steps on miners. Their first kind, and until version 7 the only one, were bulk actions. */
  bulk_action: {
    id: Generated<number>;
    time: number;
    actor: string;
    user_id: number | null;
    action: string;
    /** JSON */
    parameters: string;
    parallel: number;
    /** s */
    delay: number;
    dry_run: number;
    /** Miners. */
    total: number;
    state: (typeof jobStates)[number];
    /** JSON; null for a bulk action. */
    cause: string | null;
    /** Unique. */
    occurrence: string | null;
    /** JSON; null for a bulk action of an older version, whose one step is its action. */
    steps: string | null;
    /** Total seconds that the steps wait. */
    waits: Generated<number>;
    /** Miners with this result, or with it predicted by a dry run; triggers count them. */
    done: Generated<number>;
    failed: Generated<number>;
    unknown: Generated<number>;
    ended: number | null;
    /** JSON: what a dry run says; null for other runs. */
    preview: string | null;
  };
  bulk_result: {
    bulk_action_id: number;
    miner_id: number;
    /** In the order of the request. */
    position: number;
    /** Null until it has one. */
    command_id: number | null;
    state: (typeof bulkStates)[number];
    message: string;
    /** The number of finished steps. */
    step: Generated<number>;
    /** JSON: their results, if there are several steps. */
    past: Generated<string>;
    /** What the setting that it changes was before; null: not known, or no setting. */
    before: string | null;
  };
  active_pool: { miner_id: number; id: number; url: string; worker: string; ordinal: number };
  rig_memory: {
    miner_id: number;
    uid: string | null;
    driver: string | null;
    /** JSON */
    identity: string;
    /** JSON */
    controls: string;
    /** JSON */
    layout: string;
    started_at: number | null;
    software: string | null;
    /** JSON */
    reason: string;
    /** JSON */
    records: string;
  };
  /** Separate from the memory, because it is written often and the memory is large. */
  rig_energy: { miner_id: number; energy: number };
  /** Wh drawn by the miners of a group; 0 = those in no group, -1 = all miners. */
  group_energy: { group_id: number; energy: number };
  /** The state of a rule or schedule for a miner; miner 0: no single miner (rule-log.ts). */
  rule_state: {
    kind: "rule" | "schedule";
    owner_id: number;
    miner_id: number;
    phase: string;
    since: number;
    /** ms */
    elapsed: number;
    count: number;
    /** JSON */
    fired: string;
    held: string | null;
    attempts: number;
    /** JSON */
    times: string | null;
  };
  /** Traces of rules and schedules. */
  rule_trace: {
    id: number;
    time: number;
    kind: "rule" | "schedule";
    owner_id: number;
    miner_id: number;
    /** JSON */
    value: string;
  };
  /** The last good value of each external source (kept-values.ts); JSON. */
  source_value: { source: string; at: number; value: string };
  /** Earnings and costs of each miner by local date (money-days.ts). */
  money_day: {
    day: string;
    miner_id: number;
    group_id: number;
    coin: string;
    algorithm: string;
    currency: string;
    seconds: number;
    energy: number | null;
    cost: number | null;
    cost_btc: number | null;
    revenue: number | null;
    revenue_btc: number | null;
    profit: number | null;
    profit_btc: number | null;
    compared: number;
    uncosted: number;
    unearned: number;
  };
  /** The energy cost of each miner (money-days.ts). */
  money_total: { miner_id: number; currency: string; cost: number };
  /** Browsers that are logged in (sessions.ts); user null = by the service's own key. */
  session: { digest: string; user_id: number | null; key_digest: string; created: number; used: number };
  /** Sums over the miners of each group (farm-samples.ts); group ids as in group_energy. */
  farm_sample: {
    group_id: number;
    /** Seconds that a row represents. */
    span: number;
    time: number;
    power: number | null;
    mining: number;
    total: number;
    revenue: number | null;
    cost: number | null;
    profit: number | null;
    currency: string;
  };
  farm_hashrate: {
    group_id: number;
    span: number;
    time: number;
    algorithm: string;
    hashrate: number;
    miners: number;
  };
  /** Writes with an `Idempotency-Key`. */
  idempotency: {
    caller: string;
    key: string;
    /** Digest of the request. */
    request: string;
    /** The first command and the first run that it has started. */
    command_id: number | null;
    run_id: number | null;
    /** JSON; null until it is known. */
    answer: string | null;
    at: number;
  };
  /** Curtailments; JSON. */
  curtailment: { id: number; key: string | null; started: number; is_over: number; value: string };
  /** JSON */
  curtailment_rig: { curtailment_id: number; miner_id: number; value: string };
  /** W that the rigs of a curtailment took, and that the meters of its places showed. */
  curtailment_sample: { curtailment_id: number; time: number; rigs: number; meter: number | null };
  /** Samples of about the last hour, unpacked. */
  sample: {
    /** time / 20 s, rounded down */
    span: number;
    miner_id: number;
    time: number;
    hashrate: number | null;
    power: number | null;
    temperature: number | null;
    energy: number | null;
  };
  /** Every sample of a miner in an hour (epoch hours), packed. */
  sample_hour: { hour: number; miner_id: number; samples: Uint8Array };
  /** The hourly means of a miner on a day (epoch days), packed. */
  sample_day: { day: number; miner_id: number; samples: Uint8Array };
}
