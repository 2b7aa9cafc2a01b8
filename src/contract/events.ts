import { z } from "zod";
import { Command, Miner, Notification, Summary, Uid } from "./resources.ts";

const event = <const T extends string, D extends z.ZodType>(type: T, data: D) =>
  z.object({
    id: z.int().describe("where to resume: counts up; `reset` has that of the event before"),
    type: z.literal(type),
    data,
  });

/** Named, since generators of clients need a name for each shape. */
export const RemovedMiner = z.object({ id: z.int(), uid: Uid.nullable() });
/** Something that happens to a miner in a moment. `value` is the reading named as the event, `before` what it was. */
export const MinerEvent = z.object({
  id: z.int(),
  uid: Uid.nullable(),
  event: z.enum(["best_share", "block_found"]),
  value: z.number().describe("difficulty of the best share, or how many blocks were found"),
  before: z.number(),
});
export type MinerEvent = z.infer<typeof MinerEvent>;
export const ResetData = z.object({});

/**
 * What a service tells without being asked (`additions` of the API, GET /api/events). Passing time alone is no event.
 * `reset`: what was missed is no longer known, or another set of miners is to be seen; read the lists anew.
 */
export const ServiceEvent = z.discriminatedUnion("type", [
  event("miner", Miner),
  event("miner-removed", RemovedMiner),
  event("miner-event", MinerEvent),
  event("summary", Summary),
  event("notification", Notification),
  event("command", Command),
  event("reset", ResetData),
]);
export type ServiceEvent = z.infer<typeof ServiceEvent>;
export type EventType = ServiceEvent["type"];
