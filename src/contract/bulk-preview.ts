import { z } from "zod";

const count = z.int();
const seconds = z.number();

/** What a bulk action would change, by the last readings. Nothing that was not measured is promised. */
export const BulkPreview = z.object({
  power: z.object({
    now: z.number().describe("W, of the miners that would accept it and whose power is known now and afterwards"),
    after: z.number().describe("W, of the same miners"),
    unknown: count.describe(
      "miners that would accept it, but whose power now or afterwards is not known: they count as 0",
    ),
  }),
  seconds: z
    .object({ half: seconds, most: seconds, all: seconds })
    .nullable()
    .describe(
      "seconds until 50, 90 and 100 % of the change in power, in this order and at this pace, if each rig takes the time that its control states; null = no change is known",
    ),
  revenueLost: z
    .number()
    .nullable()
    .describe("revenue per hour of what the miners would mine less, in the display currency; null = not known for any"),
  currency: z.string().describe("ISO 4217"),
  leftOut: z
    .array(z.object({ code: z.string(), message: z.string(), miners: count }))
    .describe("why miners would not accept it, the most frequent first; a rare reason is only in the results"),
});
export type BulkPreview = z.infer<typeof BulkPreview>;
