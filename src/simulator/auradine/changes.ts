import { z } from "zod";
import type { Pool } from "../model.ts";
import type { AuradineRig } from "./rig.ts";

const Mode = z.union([
  z.strictObject({ sleep: z.enum(["on", "off"]) }),
  z.strictObject({ mode: z.enum(["eco", "normal", "turbo"]) }),
  z.strictObject({ mode: z.literal("custom"), tune: z.literal("power"), power: z.int().min(100).max(4_000) }),
]);
const Led = z.strictObject({ code: z.int() });
const Restart = z.strictObject({ parameter: z.literal("gcminer").optional() });
const Pools = z.strictObject({
  pools: z
    .array(z.strictObject({ url: z.string().min(1), user: z.string(), pass: z.string() }))
    .min(1)
    .max(3),
});

/** Returns the error, null where the rig has accepted it. */
type Change = (rig: AuradineRig, fields: unknown) => string | null;

const change =
  <T>(form: z.ZodType<T>, act: (rig: AuradineRig, fields: T) => void): Change =>
  (rig, fields) => {
    const parsed = form.safeParse(fields);
    if (!parsed.success) return "Invalid parameter";
    act(rig, parsed.data);
    rig.settle();
    return null;
  };

export const changes: ReadonlyMap<string, Change> = new Map<string, Change>([
  ["mode", change(Mode, setMode)],
  [
    "led",
    change(Led, (rig, { code }) => {
      rig.ledCode = code;
    }),
  ],
  [
    "restart",
    change(Restart, (rig, { parameter }) => {
      rig.ledCode = null;
      rig.model.restart(parameter === undefined ? rig.body.restartSeconds : 0);
    }),
  ],
  ["updatepools", change(Pools, setPools)],
]);

function setMode(rig: AuradineRig, wanted: z.infer<typeof Mode>): void {
  if ("sleep" in wanted) rig.sleeps = wanted.sleep === "on";
  else rig.mode = wanted.mode;
  if ("power" in wanted) rig.power = wanted.power;
}

function setPools(rig: AuradineRig, { pools: listed }: z.infer<typeof Pools>): void {
  const fresh = { difficulty: rig.model.pools[0]?.difficulty ?? 1024, alive: true, quota: 1, hashes: 0 };
  const pools = listed.map(({ url, user, pass }, priority): Pool => {
    const known = rig.model.pools.find((pool) => pool.url === url && pool.user === user) ?? fresh;
    const { difficulty, alive, quota, hashes } = known;
    const login = { url, user, password: pass };
    return { ...login, difficulty, alive, quota, hashes, enabled: true, priority, lastShareAt: null };
  });
  rig.model.setPools(pools);
}
