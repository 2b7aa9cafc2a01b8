import { z } from "zod";

/** The most W that a target or a ramp may name. */
export const mostWatts = 1e9;

/** What the rigs of a scope may take together: exactly one of these. */
export const CurtailmentTarget = z
  .strictObject({
    reduce: z.number().min(1).max(mostWatts).optional().describe("W less than they took when it began"),
    limit: z.number().min(0).max(mostWatts).optional().describe("W that they may take"),
    share: z.number().min(1).max(100).optional().describe("percent less than they took when it began"),
    all: z.literal(true).optional().describe("they all stop"),
  })
  .refine(
    (target) => Object.values(target).filter((each) => each !== undefined).length === 1,
    "needs exactly one of reduce, limit, share and all",
  );
export type CurtailmentTarget = z.output<typeof CurtailmentTarget>;
