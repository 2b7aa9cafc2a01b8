import { z } from "zod";
import { Duration } from "./duration.ts";
import { Line } from "./inputs.ts";

/** Profit switching of a managed miner, as the API takes it and answers. */

const figure = z.number().nullable();

const Choice = z.strictObject({
  algorithm: Line(100).min(1).describe("id of GET /api/algorithms"),
  poolId: z.int().min(1).describe("the pool or pool group for it; its coin says what it earns"),
  isPoolGroup: z.boolean().default(false),
  softwareType: Line(100).default("").describe("id of GET /api/miningsoftware; empty = the miner's own"),
});

/** What a managed miner chooses among. */
export const Switching = z.strictObject({
  mode: z
    .enum(["profit", "heat"])
    .default("profit")
    .describe("profit: what earns most after electricity; heat: what draws most power, whatever it earns"),
  choices: z.array(Choice).min(2).max(20),
  hysteresis: z
    .number()
    .min(0)
    .max(100)
    .default(5)
    .describe("% of the highest revenue (or power) by which another choice must be better"),
  minimumStay: Duration(60, 7 * 86_400)
    .default(1800)
    .describe("how long it mines a choice at least, like 30m; in seconds in replies"),
});
export type Switching = z.output<typeof Switching>;
export type Choice = z.output<typeof Choice>;

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
