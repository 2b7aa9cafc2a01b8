import { z } from "zod";
import { Line } from "../contract/inputs.ts";

const figure = (min: number, max: number, what: string) => z.number().min(min).max(max).optional().describe(what);

/** Settings of a model of graphics card while it mines an algorithm, on every host. */
export const GpuSettingsOfModel = z
  .strictObject({
    algorithm: Line(100).min(1).describe("while it mines this one"),
    model: Line(100).min(1).optional().describe("part of the card's name, like RTX 3080; absent = every card"),
    powerLimit: figure(10, 2_000, "W"),
    coreClock: figure(100, 5_000, "MHz, locked"),
    memoryClock: figure(100, 30_000, "MHz, locked"),
    fan: figure(0, 100, "%"),
  })
  .refine(
    ({ powerLimit, coreClock, memoryClock, fan }) =>
      [powerLimit, coreClock, memoryClock, fan].some((each) => each !== undefined),
    "requires at least one of powerLimit, coreClock, memoryClock and fan",
  );
export type GpuSettingsOfModel = z.infer<typeof GpuSettingsOfModel>;
