import { z } from "zod";
import { Duration } from "./duration.ts";

/** Profit switching of a managed miner, in requests and answers. */

const figure = z.number().nullable();
const id = z.string().max(100);
const mode = z
  .enum(["profit", "heat"])
  .describe("profit: the highest earnings after electricity; heat: the highest power draw, whatever it earns");
const algorithm = id.min(1).describe("id of GET /api/algorithms");
const poolId = z.int().min(1).describe("the pool or pool group for it; its coin determines the earnings");
const softwareType = id.describe("id of GET /api/miningsoftware; empty = the miner's own");
const hysteresis = z
  .number()
  .min(0)
  .max(100)
  .describe("% of the highest revenue (or power) by which another choice must be better");

/** The choices of a managed miner. */
export const Switching = z.object({
  mode,
  choices: z.array(z.object({ algorithm, poolId, isPoolGroup: z.boolean(), softwareType })),
  hysteresis,
  minimumStay: z.number().describe("least s that it mines a choice"),
});
export type Switching = z.infer<typeof Switching>;
export type Choice = Switching["choices"][number];

export const SwitchingBody = z.strictObject({
  mode: mode.default("profit"),
  choices: z
    .array(
      z.strictObject({
        algorithm,
        poolId,
        isPoolGroup: z.boolean().default(false),
        softwareType: softwareType.default(""),
      }),
    )
    .min(2)
    .max(20),
  hysteresis: hysteresis.default(5),
  minimumStay: Duration(60, 7 * 86_400)
    .default(1800)
    .describe("least time that it mines a choice, like 30m"),
});

/** The answer of GET /api/managedminers/{id}/switching. */
export const SwitchingState = z.object({
  choice: z.int().nullable().describe("index of the choice that it mines; null = none of them"),
  since: z.iso.datetime().nullable().describe("since when"),
  why: z.string().describe("why it mines that"),
  measuring: z.boolean().describe("whether it mines the choice only to measure it"),
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

/** Measured hash rate and power of one card of a model. */
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
