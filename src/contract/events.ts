import { z } from "zod";
import { Command, Miner, Notification, Summary, Uid } from "./resources.ts";
import { MinerRow } from "./rows.ts";
import { Site } from "./sites.ts";

const event = <const T extends string, D extends z.ZodType>(type: T, data: D) =>
  z.object({
    id: z.int().describe("number of the event, for resuming: counts up; a `reset` carries that of the event before it"),
    type: z.literal(type),
    data,
  });

/** Exported because generators of clients need a name for each schema. */
export const RemovedMiner = z.object({ id: z.int(), uid: Uid.nullable() });
/** A momentary event of a miner. `value` is the reading that the event is about, `before` its previous value. */
export const MinerEvent = z.object({
  id: z.int(),
  uid: Uid.nullable(),
  event: z.enum(["best_share", "block_found"]),
  value: z.number().describe("difficulty of the best share, or number of blocks found"),
  before: z.number(),
});
export interface MinerEvent extends z.infer<typeof MinerEvent> {}
/** Ids of notifications that were acknowledged or cleared together. */
export const NotificationIds = z.object({ ids: z.array(z.int()) });
/** A rule, schedule or maintenance window has changed; read its own operations for details. */
export const RuleChange = z.object({
  kind: z.enum(["rule", "schedule", "maintenance"]),
  id: z.int(),
  key: z.string().describe("key of the rule or schedule, name of the window"),
  state: z
    .enum(["idle", "pending", "active", "held", "disabled", "removed"])
    .describe(
      "active: it fires for at least one miner, has begun, or covers miners now; held: it fires and is held back everywhere; pending: its conditions hold, but not for long enough; disabled: also if something is wrong with it",
    ),
});
export interface RuleChange extends z.infer<typeof RuleChange> {}

/** A site was reached, or can no longer be; read GET /api/sites for details. Its rows are as they were. */
export const SiteChange = Site.pick({ id: true, name: true, state: true, since: true });
export interface SiteChange extends z.infer<typeof SiteChange> {}

/** Keys of the configuration whose values have changed; read GET /api/settings for details. */
export const SettingsChanged = z.object({ sections: z.array(z.string()) });

/** A place was added, changed or removed; read GET /api/places for details. */
export const PlacesChanged = z.object({});

export const ResetData = z.object({});

const others = [
  event("miner-removed", RemovedMiner),
  event("miner-event", MinerEvent),
  event("summary", Summary),
  event("notification", Notification),
  event("notification-acknowledged", NotificationIds),
  event("notification-removed", NotificationIds),
  event("command", Command),
  event("rule", RuleChange),
  event("settings", SettingsChanged),
  event("site", SiteChange),
  event("places", PlacesChanged),
  event("reset", ResetData),
] as const;

/** One event under a name, so that declarations do not repeat its fields for each operation. */
interface EventOf<T, D> {
  id: number;
  type: T;
  data: D;
}
interface EventData {
  miner: Miner;
  "miner-removed": z.infer<typeof RemovedMiner>;
  "miner-event": MinerEvent;
  summary: Summary;
  notification: Notification;
  "notification-acknowledged": z.infer<typeof NotificationIds>;
  "notification-removed": z.infer<typeof NotificationIds>;
  command: Command;
  rule: RuleChange;
  settings: z.infer<typeof SettingsChanged>;
  site: SiteChange;
  places: z.infer<typeof PlacesChanged>;
  reset: z.infer<typeof ResetData>;
}
type OneOf<Data> = { [Type in keyof Data]: EventOf<Type, Data[Type]> }[keyof Data];

/**
 * Events pushed to subscribers (`additions` of the API, GET /api/events). The passage of time alone is not an event.
 * `miner`: the miner's state when the event is sent, once however often it has changed before. `notification`: it is
 * new, has repeated or was closed. `rule`: at most about once a second for each rule, schedule and maintenance window
 * that has changed or acted. `reset`: missed events are no longer available, or the set of visible miners has changed;
 * read the lists again.
 */
export const ServiceEvent: z.ZodType<ServiceEvent> = z.discriminatedUnion("type", [event("miner", Miner), ...others]);
export type ServiceEvent = OneOf<EventData>;

/** Like `ServiceEvent`, with the miner as a row of the list; a change that no row shows causes no event. */
export const RowEvent: z.ZodType<RowEvent> = z.discriminatedUnion("type", [event("miner", MinerRow), ...others]);
export type RowEvent = OneOf<Omit<EventData, "miner"> & { miner: MinerRow }>;

export type EventType = ServiceEvent["type"];
/** The types that subscribers can choose from; `reset` is always sent. */
export const eventTypes = [
  ...(["miner", "miner-removed", "miner-event", "summary", "notification"] as const),
  ...(["notification-acknowledged", "notification-removed", "command", "rule", "settings", "site", "places"] as const),
] as const;
