import type { RigState } from "../../fleet/state.ts";

/** What a read shows beside figures: mining has started again, or the rig has another firmware. */
export type RigChange =
  | { readonly kind: "restart"; readonly startedAt: number }
  | { readonly kind: "firmware"; readonly from: string; readonly to: string };

type Shown = Pick<RigState, "uid" | "driver" | "identity" | "startedAt">;

/** What a good read shows to have changed since the last one; null for nothing, or for another rig. A new firmware restarts a rig. */
export function rigChangeOf(before: Shown, now: Shown): RigChange | null {
  if (before.identity === now.identity && before.startedAt === now.startedAt) return null;
  if (before.uid !== now.uid) return null;
  const [from, to] = [before.identity?.firmware ?? null, now.identity?.firmware ?? null];
  if (from !== null && to !== null && from !== to) return { kind: "firmware", from, to };
  if (before.driver !== now.driver || before.startedAt === null || now.startedAt === null) return null;
  return now.startedAt > before.startedAt ? { kind: "restart", startedAt: now.startedAt } : null;
}
