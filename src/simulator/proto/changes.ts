import { z } from "zod";
import type { Pool } from "../model.ts";
import { type ProtoRig, powerTargets } from "./rig.ts";

/** Returns the rig's words, null where it does not accept the body. */
type Change = (rig: ProtoRig, body: unknown) => string | null;

const change =
  <T>(form: z.ZodType<T>, act: (rig: ProtoRig, body: T) => string): Change =>
  (rig, body) => {
    const parsed = form.safeParse(body);
    return parsed.success ? act(rig, parsed.data) : null;
  };

const Target = z.strictObject({
  power_target_watts: z.int().min(powerTargets.least).max(powerTargets.most).optional(),
  performance_mode: z.enum(["MaximumHashrate", "Efficiency"]).optional(),
});
const Cooling = z.union([
  z.strictObject({ mode: z.literal("Auto"), target_temperature_c: z.number().optional() }),
  z.strictObject({ mode: z.literal("Manual"), speed_percentage: z.int().min(0).max(100) }),
]);
const NewPool = z.strictObject({
  name: z.string().optional(),
  url: z.string().regex(/^stratum2?\+(tcp|ssl|tls):\/\//),
  username: z.string().min(1),
  password: z.string(),
  priority: z.int().min(0),
});

export const changes: ReadonlyMap<string, Change> = new Map<string, Change>([
  ["POST mining/start", (rig) => mine(rig, true)],
  ["POST mining/stop", (rig) => mine(rig, false)],
  ["POST system/locate", () => "Locate sequence activated"],
  [
    "POST system/reboot",
    (rig) => {
      rig.model.restart(rig.body.restartSeconds);
      return "Reboot initiated";
    },
  ],
  [
    "PUT mining/target",
    change(Target, (rig, { power_target_watts: watts, performance_mode: mode }) => {
      rig.powerTarget = watts ?? rig.powerTarget;
      rig.mode = mode ?? rig.mode;
      rig.model.change((model) => {
        model.level = model.levelAt(rig.powerTarget);
      });
      return "Mining target updated";
    }),
  ],
  [
    "PUT cooling",
    change(Cooling, (rig, body) => {
      rig.fanTarget = body.mode === "Auto" ? (body.target_temperature_c ?? 50) : null;
      rig.model.change((model) => {
        model.fanSetting = body.mode === "Manual" ? body.speed_percentage / 100 : null;
      });
      return "Cooling updated";
    }),
  ],
  ["POST pools", change(z.array(NewPool).min(1).max(3), setPools)],
]);

function mine(rig: ProtoRig, on: boolean): string {
  rig.model.change((model) => {
    model.mining = on;
  });
  return on ? "Mining started" : "Mining stopped";
}

/** The list replaces the former one. */
function setPools(rig: ProtoRig, list: z.infer<typeof NewPool>[]): string {
  const fresh = { difficulty: rig.model.pools[0]?.difficulty ?? 1024, alive: true, quota: 1, hashes: 0 };
  rig.names = list.map(({ name }) => name ?? "");
  rig.model.setPools(
    list.map(({ url, username, password, priority }): Pool => {
      const known = rig.model.pools.find((pool) => pool.url === url && pool.user === username) ?? fresh;
      const { difficulty, alive, quota, hashes } = known;
      return {
        url,
        user: username,
        password,
        priority,
        difficulty,
        alive,
        quota,
        hashes,
        enabled: true,
        lastShareAt: null,
      };
    }),
  );
  return "Pools configured successfully";
}
