import { z } from "zod";
import type { Pool } from "../model.ts";

const ConfigPool = z.object({
  url: z.string().min(1),
  user: z.string().default(""),
  pass: z.string().default("x"),
  enabled: z.boolean().default(true),
});

const defaultDifficulty = 200_000;

/** The pools of a configuration, with counters at zero; what is no pool is left out. */
export function poolsOf(value: unknown, before: readonly Pool[]): Pool[] {
  const list = z.array(z.unknown()).safeParse(value).data ?? [];
  return list.flatMap((entry, priority) => {
    const pool = ConfigPool.safeParse(entry);
    if (!pool.success) return [];
    const { url, user, pass: password, enabled } = pool.data;
    const { difficulty = defaultDifficulty, alive = true } = before.find((other) => other.url === url) ?? {};
    return [{ url, user, password, difficulty, enabled, alive, priority, quota: 1, hashes: 0, lastShareAt: null }];
  });
}
