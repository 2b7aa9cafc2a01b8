import type { Rig } from "../../link/driver.ts";

/** Resolves when a rig may start, such as once its fan runs. Throws `not.possible` with the reason if it may not. */
export type BeforeStart = (minerId: number) => Promise<void>;

/** A rig that is started only after this, and takes everything else at once. */
export const startingAfter = (rig: Rig, before: () => Promise<void>): Rig => ({
  read: (signal) => rig.read(signal),
  set: async (key, value, signal) => {
    if (key === "mining" && value === true) await before();
    return rig.set(key, value, signal);
  },
  pools: rig.pools,
  close: () => rig.close(),
});
