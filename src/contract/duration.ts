import { z } from "zod";
import { asked } from "./form-kind.ts";

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

const written = /^(\d{1,9}(?:\.\d{1,3})?)\s?([smhd])$/;

/** A duration like "30s", "2m", "1.5h", "1d" or a number of seconds; read as seconds. */
export const Duration = (leastSeconds: number, mostSeconds: number) =>
  asked(
    "duration",
    z
      .union(
        [
          z.number(),
          z
            .string()
            .max(20)
            .regex(written)
            .transform((text) => {
              const [, number = "", unit = ""] = written.exec(text) ?? [];
              return Number(number) * (units[unit] ?? Number.NaN);
            }),
        ],
        'must be a duration like "30s", "2m", "1h" or "1d"',
      )
      .refine((seconds) => seconds >= leastSeconds && seconds <= mostSeconds, {
        error: `must be ${durationText(leastSeconds)} to ${durationText(mostSeconds)}`,
      }),
  );

/** A duration as `Duration` reads it. */
export function durationText(seconds: number): string {
  for (const unit of ["d", "h", "m"]) {
    const size = units[unit] ?? 1;
    if (seconds >= size && seconds % size === 0) return `${seconds / size}${unit}`;
  }
  return `${seconds}s`;
}
