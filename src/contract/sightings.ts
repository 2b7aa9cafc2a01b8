import { z } from "zod";
import { Identity } from "./readings.ts";
import { Position } from "./resources.ts";

/** `report`: the rig reported itself; `lease`, `arp`: a DHCP server or this machine's ARP table has its address. */
export const sightingSources = ["report", "lease", "arp"] as const;
export type SightingSource = (typeof sightingSources)[number];

const text = z.string();

export const Sighting = z.object({
  id: z.int(),
  time: z.iso.datetime().describe("when it was last identified there"),
  source: z.enum(sightingSources).describe("what pointed to its address"),
  address: text.describe("address, as accepted by POST /api/miners"),
  driver: text.nullable().describe("null if this version cannot read the device"),
  identity: Identity.describe(
    "what it reports; a MAC address that it does not report is that of the lease or ARP table",
  ),
  note: text.nullable().describe("why it cannot be read, or what a login would add"),
  miner: z.int().nullable().describe("the miner that it is; null = none yet"),
  name: text.nullable().describe("name of this miner"),
  movedFrom: text.nullable().describe("the address of this miner, if it is another one; null = it has not moved"),
});
export interface Sighting extends z.infer<typeof Sighting> {}

export const SightingBody = z.strictObject({
  placeId: z.int().min(1).optional().describe("its place; absent: as it is"),
  position: Position.optional().describe("its position there; no other miner may have it"),
});
