import { z } from "zod";
import { jsonOf } from "../json.ts";
import type { Pool } from "../model.ts";
import type { VnishRig } from "./rig.ts";

/** The pools as reported; the first one is preferred. */
const PoolEntry = z.object({ url: z.string().max(255), user: z.string().max(255), pass: z.string().max(255) });

/** The fields that POST accepts; others are ignored. */
const Settings = z.object({
  miner: z
    .object({
      overclock: z.object({ preset: z.string() }).partial(),
      pools: z.array(PoolEntry).max(3),
      cooling: z.object({
        mode: z.discriminatedUnion("name", [
          z.object({ name: z.literal("auto"), param: z.number().min(20).max(90).optional() }),
          z.object({ name: z.literal("manual"), param: z.number().min(10).max(100) }),
        ]),
      }),
    })
    .partial(),
});

const slots = 3;
const empty = { url: "", user: "", pass: "" };

/** All settings that the simulation has. */
export function settings(rig: VnishRig): object {
  const pools = rig.storedPools.map(({ url, user, password }) => ({ url, user, pass: rig.hides ? "***" : password }));
  return {
    miner: {
      overclock: { modded_psu: false, preset: rig.preset.name, globals: { volt: 1380, freq: 675 } },
      pools: [...pools, ...Array(Math.max(0, slots - pools.length)).fill(empty)],
      cooling: rig.cooling,
      misc: { quiet_mode: false },
    },
    network: { dhcp: true, hostname: rig.body.name },
    regional: { timezone: { current: "GMT" } },
  };
}

/** The result: whether mining has to be restarted, or the firmware's message if it refuses. */
export function save(rig: VnishRig, body: string): { restartRequired: boolean } | string {
  const parsed = Settings.safeParse(jsonOf(body));
  if (!parsed.success) return `Failed to parse settings: ${body}`;
  const { overclock, pools, cooling } = parsed.data.miner;
  const preset = rig.presets.find(({ name }) => name === overclock?.preset);
  if (overclock?.preset !== undefined && preset === undefined) return `Unknown preset ${overclock.preset}`;
  const listed = pools?.filter(({ url }) => url !== "");
  if (listed?.length === 0) return "At least one pool is required";
  if (listed !== undefined) rig.storedPools = listed.map((entry, priority) => stored(rig, entry, priority));
  if (preset !== undefined) rig.preset = preset;
  if (cooling !== undefined) cool(rig, cooling.mode);
  const restartRequired = listed !== undefined || preset !== undefined;
  rig.restartRequired ||= restartRequired;
  return { restartRequired };
}

function cool(rig: VnishRig, mode: { readonly name: "auto" | "manual"; readonly param?: number | undefined }): void {
  const { name, param } = mode;
  const target = name === "auto" ? (param ?? rig.model.temperatureTarget) : rig.model.temperatureTarget;
  rig.cooling = { ...rig.cooling, mode: { name, param: name === "auto" ? target : (param ?? 100) } };
  rig.model.change((model) => {
    model.temperatureTarget = target;
    model.fanSetting = name === "manual" ? (param ?? 100) / 100 : null;
  });
}

function stored(rig: VnishRig, { url, user, pass }: z.infer<typeof PoolEntry>, priority: number): Pool {
  const known = rig.model.pools.find((pool) => pool.url === url && pool.user === user);
  const fresh = { difficulty: rig.model.pools[0]?.difficulty ?? 1024, alive: true, quota: 1, hashes: 0 };
  const { difficulty, alive, quota, hashes } = known ?? fresh;
  return { url, user, password: pass, difficulty, alive, quota, hashes, enabled: true, priority, lastShareAt: null };
}
