import { z } from "zod";
import { Duration } from "./duration.ts";

/** Profit switching of a managed miner, as the API takes it and answers. */

const figure = z.number().nullable();
const id = z.string().max(100);
const mode = z
  .enum(["profit", "heat"])
  .describe("profit: what earns most after electricity; heat: what draws most power, whatever it earns");
const algorithm = id.min(1).describe("id of GET /api/algorithms");
const poolId = z.int().min(1).describe("the pool or pool group for it; its coin says what it earns");
const softwareType = id.describe("id of GET /api/miningsoftware; empty = the miner's own");
const hysteresis = z
  .number()
  .min(0)
  .max(100)
  .describe("% of the highest revenue (or power) by which another choice must be better");

/** What a managed miner chooses among. */
export const Switching = z.object({
  mode,
  choices: z.array(z.object({ algorithm, poolId, isPoolGroup: z.boolean(), softwareType })),
  hysteresis,
  minimumStay: z.number().describe("s that it mines a choice at least"),
});
export type Switching = z.infer<typeof Switching>;
export type Choice = Switching["choices"][number];

export const SwitchingBody = z.strictObject({
  mode: mode.default("profit"),
  choices: z
    .array(
      z.strictObject({
        ...{ algorithm, poolId },
        isPoolGroup: z.boolean().default(false),
        softwareType: softwareType.default(""),
      }),
    )
    .min(2)
    .max(20),
  hysteresis: hysteresis.default(5),
  minimumStay: Duration(60, 7 * 86_400)
    .default(1800)
    .describe("how long it mines a choice at least, like 30m"),
});

/** What GET /api/managedminers/{id}/switching answers. */
export const SwitchingState = z.object({
  choice: z.int().nullable().describe("index of the choice that it mines; null = none of them"),
  since: z.iso.datetime().nullable().describe("since when"),
  why: z.string().describe("why it mines that"),
  measuring: z.boolean().describe("whether it mines a choice only to measure it"),
  options: z.array(
    z.object({
      algorithm: z.string(),
      hashrate: figure.describe("H/s, as measured with these models of cards; null = not measured yet"),
      power: figure.describe("W"),
      revenue: figure.describe("money per day"),
      cost: figure.describe("money per day"),
      profit: figure.describe("money per day"),
    }),
  ),
});
export type SwitchingState = z.infer<typeof SwitchingState>;

/** What one card of a model does. */
export const BenchmarkEntry = z.object({
  id: z.int(),
  model: z.string().describe("name of a graphics card or processor"),
  software: z.string(),
  algorithm: z.string(),
  hashrate: z.number().describe("H/s of one"),
  power: figure.describe("W of one"),
  at: z.iso.datetime(),
});
export type BenchmarkEntry = z.infer<typeof BenchmarkEntry>;
