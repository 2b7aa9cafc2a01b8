import { z } from "zod";
import type { Pool } from "../model.ts";
import type { EpicRig } from "./rig.ts";

/** Returns the error, null where the rig has accepted it. */
type Change = (rig: EpicRig, param: unknown) => string | null;

/** A change whose parameter has this form. */
const change =
  <T>(form: z.ZodType<T>, act: (rig: EpicRig, param: T) => string | null | undefined): Change =>
  (rig, param) => {
    const parsed = form.safeParse(param);
    return parsed.success ? (act(rig, parsed.data) ?? null) : "InvalidParam";
  };

const Seconds = z.int().min(0);
const Percent = z.int().min(1).max(100);
const Fan = z.union([
  z.strictObject({ Manual: Percent }),
  z.strictObject({ Auto: z.strictObject({ "Target Temperature": z.number(), "Idle Speed": z.int() }) }),
]);
const Coin = z.strictObject({
  coin: z.literal("BTC"),
  stratum_configs: z
    .array(z.strictObject({ pool: z.string().min(1), login: z.string().min(1), password: z.string() }))
    .min(1)
    .max(3),
  unique_id: z.boolean(),
});
const Algorithm = z.strictObject({
  algo: z.enum(["Power", "VoltageOptimizer"]),
  target: z.number().min(60).max(4_000),
  min_throttle: z.number().optional(),
  throttle_step: z.number().optional(),
});

export const changes: ReadonlyMap<string, Change> = new Map<string, Change>([
  [
    "/miner",
    change(z.enum(["Autostart", "Stop"]), (rig, word) => {
      rig.lastCommand = word;
      rig.model.change((model) => {
        model.mining = word === "Autostart";
      });
      return null;
    }),
  ],
  ["/softreboot", change(Seconds, (rig) => restart(rig, 0))],
  ["/reboot", change(Seconds, (rig) => restart(rig, rig.body.restartSeconds))],
  [
    "/identify",
    change(z.boolean(), (rig, on) => {
      rig.blinks = on;
      return null;
    }),
  ],
  ["/fanspeed", change(Fan, cool)],
  ["/coin", change(Coin, setPools)],
  ["/perpetualtune", change(z.boolean(), () => null)],
  ["/perpetualtune/algo", change(Algorithm, tune)],
  [
    "/boardenable",
    change(z.array(z.strictObject({ Index: z.int().min(0).max(2), Data: z.boolean() })).min(1), (rig, boards) => {
      rig.model.change(({ boardsOff }) => {
        for (const { Index, Data } of boards) Data ? boardsOff.delete(Index) : boardsOff.add(Index);
      });
      return null;
    }),
  ],
]);

function restart(rig: EpicRig, seconds: number): null {
  rig.blinks = false;
  rig.lastCommand = null;
  rig.model.restart(seconds);
  return null;
}

function cool(rig: EpicRig, mode: z.infer<typeof Fan>): null {
  const auto = "Auto" in mode ? { target: mode.Auto["Target Temperature"], idle: mode.Auto["Idle Speed"] } : null;
  rig.autoFan = auto;
  rig.model.change((model) => {
    model.temperatureTarget = auto?.target ?? model.temperatureTarget;
    model.fanSetting = "Manual" in mode ? mode.Manual / 100 : null;
  });
  return null;
}

function tune(rig: EpicRig, { algo, target }: z.infer<typeof Algorithm>): string | null {
  if (algo === "Power" && !rig.options.tunesPower) return "Algorithm not supported";
  rig.powerTarget = algo === "Power" ? target : null;
  rig.model.change((model) => {
    model.level = algo === "Power" ? model.levelAt(target) : 1;
  });
  return null;
}

/** Mining restarts with the new list. */
function setPools(rig: EpicRig, { stratum_configs: listed }: z.infer<typeof Coin>): null {
  const fresh = { difficulty: rig.model.pools[0]?.difficulty ?? 1024, alive: true, quota: 1, hashes: 0 };
  const pools = listed.map(({ pool, login, password }, priority): Pool => {
    const known = rig.model.pools.find(({ url, user }) => url === pool && user === login) ?? fresh;
    const { difficulty, alive, quota, hashes } = known;
    return {
      url: pool,
      user: login,
      password,
      difficulty,
      alive,
      quota,
      hashes,
      enabled: true,
      priority,
      lastShareAt: null,
    };
  });
  rig.model.setPools(pools);
  return null;
}
