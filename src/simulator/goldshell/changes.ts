import { z } from "zod";
import type { Pool } from "../model.ts";
import { pages } from "./reports.ts";
import type { GoldshellRig } from "./rig.ts";

/** The whole object, as it is read. */
const Setting = z.looseObject({
  name: z.string(),
  powerplans: z.array(z.unknown()),
  select: z.int().min(0),
  manual: z.boolean(),
  temp_target: z.number(),
});
const NewPool = z.strictObject({ url: z.string().min(1), user: z.string().min(1), pass: z.string() });
const ListedPool = z.looseObject({ url: z.string(), user: z.string(), dragid: z.int() });

/** Returns the answer, null where it does not accept the body. */
type Change = (rig: GoldshellRig, body: unknown) => unknown;

const change =
  <T>(form: z.ZodType<T>, act: (rig: GoldshellRig, body: T) => unknown): Change =>
  (rig, body) => {
    const parsed = form.safeParse(body);
    return parsed.success ? act(rig, parsed.data) : null;
  };

const list = (rig: GoldshellRig): unknown => pages.get("pools")?.(rig) ?? [];

export const changes: ReadonlyMap<string, Change> = new Map<string, Change>([
  [
    "setting",
    change(Setting, (rig, { select, manual, temp_target }) => {
      if (select >= rig.levels.length) return null;
      rig.select = select;
      rig.manual = manual;
      rig.temperatureTarget = Math.min(75, Math.max(65, temp_target));
      rig.settle();
      return pages.get("setting")?.(rig);
    }),
  ],
  [
    "restart",
    (rig) => {
      rig.model.restart(rig.body.restartSeconds);
      rig.settle();
      return {};
    },
  ],
  [
    "newpool",
    change(NewPool, (rig, { url, user, pass }) => {
      const { pools } = rig.model;
      const difficulty = pools[0]?.difficulty ?? 1024;
      const fresh = { difficulty, alive: true, enabled: true, quota: 1, hashes: 0, lastShareAt: null };
      const added: Pool = { ...fresh, url, user, password: pass, priority: pools.length };
      rig.model.setPools([...pools, added]);
      return list(rig);
    }),
  ],
  [
    "delpool",
    change(ListedPool, (rig, { url, user }) => {
      rig.model.setPools(rig.model.pools.filter((pool) => pool.url !== url || pool.user !== user));
      return list(rig);
    }),
  ],
]);
