import { z } from "zod";
import { signalKinds } from "./signal-settings.ts";

/** A signal of the grid, as the settings declare it and as it was last heard. Source: docs/signals.md. */
export const SignalView = z.object({
  key: z.string(),
  name: z.string(),
  plan: z.string().describe("key of the plan whose curtailment it begins and ends"),
  kind: z.enum(signalKinds),
  state: z
    .enum(["run", "curtail", "stale", "unknown"])
    .describe("what it asks for; stale: it was not heard for longer than its maxAge; unknown: not heard yet"),
  value: z.union([z.number(), z.string()]).nullable().describe("the number, or what was last said; null = nothing"),
  at: z.iso.datetime().nullable().describe("when it was last heard, or the time in its message; null = not yet"),
  age: z.number().nullable().describe("s since then"),
  curtailment: z.int().nullable().describe("id of its curtailment that has not ended; null = none"),
  problem: z.string().nullable().describe("why it cannot be read or acted on; null if nothing is wrong"),
});
export interface SignalView extends z.output<typeof SignalView> {}
