import { z } from "zod";
import { type ConfigKind, figure, required } from "../shared/config.ts";
import { minerFields } from "../shared/miner-choice.ts";
import { bases, thresholdPropertyNamed } from "./threshold-properties.ts";

export const MinerInConfig = z
  .object({
    service: required,
    ...minerFields,
    when: z.enum(["every", "threshold", "status", "event"]).default("every"),
    /** s */
    interval: figure(1, 86_400, 30),
    /** In the interval also what has not changed. */
    repeat: z.boolean().default(false),
    /** In the interval: a message for each miner, or one with a list of them. */
    output: z.enum(["each", "together"]).default("each"),
    property: z.string().default("hashrate"),
    is: z.enum(["below", "above"]).default("below"),
    threshold: figure(-1e15, 1e15, 80),
    basis: z.enum(bases).default("expected"),
    /** Of the property; empty for its usual one. */
    unit: z.string().default(""),
    /** In the threshold's unit. */
    hysteresis: figure(0, 1e15, 0),
    /** s */
    hold: figure(0, 7 * 86_400, 600),
  })
  .superRefine(({ when, property, basis, unit }, context) => {
    if (when !== "threshold") return;
    const known = thresholdPropertyNamed(property);
    const isBased = known?.bases.includes(basis) ?? true;
    const hasUnit = unit === "" || basis !== "value" || known?.units.includes(unit) === true;
    if (known === undefined) context.addIssue({ code: "custom", path: ["property"], message: "property" });
    else if (!isBased) context.addIssue({ code: "custom", path: ["basis"], message: "basis" });
    else if (!hasUnit) context.addIssue({ code: "custom", path: ["unit"], message: "wrong" });
  })
  .transform((config) => {
    const { property, basis, unit } = config;
    const known = thresholdPropertyNamed(property);
    return {
      ...config,
      key: known?.key ?? "hashrate",
      unit: basis === "value" ? unit || (known?.units[0] ?? "") : "%",
    };
  });
export type MinerInConfig = z.infer<typeof MinerInConfig>;

export const minerInConfig: ConfigKind<MinerInConfig> = { version: 1, migrations: [], schema: MinerInConfig };
