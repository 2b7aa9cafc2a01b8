import { z } from "zod";
import { Line } from "./inputs.ts";
import { mostSlots, PlaceKind } from "./places.ts";
import { Uid } from "./resources.ts";

/** Exported because generators of clients need a name for each schema. */
export const PlaceHashrate = z.object({
  algorithm: z.string().describe("as in readings"),
  hashrate: z.number().describe("H/s, or what the algorithm is measured in"),
});

const slots = z.int().min(1).max(mostSlots);

export const Place = z.object({
  id: z.int(),
  uid: Uid,
  kind: PlaceKind,
  name: z.string(),
  path: z.string().describe("its name after those around it, such as Texas/B1/R07"),
  parentId: z.int().nullable().describe("the place that it is in; null = none"),
  order: z.int().describe("among those of its parent, lowest first; equal ones are sorted by name"),
  columns: slots.optional().describe("positions from left to right; absent = unlimited"),
  rows: slots.optional().describe("positions from top to bottom; absent = unlimited"),
  maxPower: z.number().optional().describe("W that it may take"),
  meter: z.string().optional().describe("what meters it"),
  exempt: z.boolean().optional().describe("true: its rigs are left out of curtailment"),
  rigs: z.int().describe("miners in it and in the places inside it"),
  mining: z.int().describe("those that mine"),
  power: z.number().nullable().describe("W, the sum of what is known; null if nothing is"),
  hashrates: z.array(PlaceHashrate).describe("of the rigs that mine, by algorithm; empty if unknown"),
  alarms: z.int().describe("open notifications of its miners"),
});
export interface Place extends z.infer<typeof Place> {}

const fields = {
  name: Line(64).min(1).describe("unique among the places of its kind and parent, in any case"),
  parentId: z.int().min(1).nullable().describe("a larger place; null = none"),
  order: z.int().min(0).max(1_000_000),
  columns: slots.describe("positions from left to right"),
  rows: slots.describe("positions from top to bottom"),
  maxPower: z.number().min(1).max(1e9).describe("W that it may take"),
  meter: Line(200).min(1).describe("what meters it"),
  exempt: z.boolean().describe("its rigs are left out of curtailment"),
};

export const PlaceBody = z.object({
  kind: PlaceKind,
  ...fields,
  parentId: fields.parentId.default(null),
  order: fields.order.default(0),
  columns: fields.columns.optional(),
  rows: fields.rows.optional(),
  maxPower: fields.maxPower.optional(),
  meter: fields.meter.optional(),
  exempt: fields.exempt.optional(),
});

const removable = <T extends z.ZodType>(field: T) => field.nullable().optional();

export const ChangePlaceBody = z
  .object({
    kind: PlaceKind.optional(),
    name: fields.name.optional(),
    parentId: fields.parentId.optional(),
    order: fields.order.optional(),
    columns: removable(fields.columns),
    rows: removable(fields.rows),
    maxPower: removable(fields.maxPower),
    meter: removable(fields.meter),
    exempt: removable(fields.exempt),
  })
  .refine((body) => Object.values(body).some((value) => value !== undefined), "has nothing to change");

export const LocatePlaceBody = z.object({
  on: z.boolean().default(true).describe("whether the rigs signal where they are"),
  seconds: z.int().min(1).max(3_600).default(60).describe("with on: until they stop again"),
});
