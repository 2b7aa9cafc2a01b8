import { setImmediate as yieldToOthers } from "node:timers/promises";
import type { CurtailmentPreview, CurtailmentTarget } from "../../contract/curtailment.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import type { Scope } from "../../contract/rules.ts";
import { targetWatts } from "../../contract/target-watts.ts";
import { PreviewSums } from "../automation/bulk-preview.ts";
import { toleranceOf } from "./curtailment-figures.ts";
import { type SheddingRig, shed } from "./curtailment-law.ts";
import { exemptPlaces, type Manner, rigsIn, type ScopeContext, sheddingRig } from "./scope-rigs.ts";

export interface PreviewedCurtailment {
  readonly scope: Scope | undefined;
  readonly target: CurtailmentTarget;
  readonly manner: Manner;
  readonly parallel: number;
  readonly currency: string;
}

/** Rigs that are looked at before other work gets its turn. */
const rigsAtOnce = 1_000;

/** What a curtailment would change, by the last readings: the choice that its first turn would make. */
export async function previewOf(wanted: PreviewedCurtailment, context: ScopeContext): Promise<CurtailmentPreview> {
  const { scope, target, manner, parallel, currency } = wanted;
  const { registry, orders, places } = context;
  const rigs = await rigsIn(scope, manner.order, context);
  const exempt = exemptPlaces(places);
  const sums = new PreviewSums({ parallel, delay: 0 });
  const candidates: SheddingRig[] = [];
  let [others, now, unknown, done] = [0, 0, 0, 0];
  for (const each of rigs) {
    done += 1;
    if (done % rigsAtOnce === 0) await yieldToOthers();
    const { reachable, draw, mining } = each.view;
    now += reachable ? (draw ?? 0) : 0;
    if (reachable && draw === null && mining !== false) unknown += 1;
    try {
      candidates.push(sheddingRig(each, manner, exempt, context));
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      others += each.expected;
      sums.leaveOut(error);
    }
  }
  const limit = targetWatts(target, now);
  const sheds = shed(candidates, others, {
    target: limit,
    level: manner.level,
    tolerance: toleranceOf(now),
    allowance: Number.POSITIVE_INFINITY,
  });
  let [after, lowered, stopped] = [others + candidates.reduce((sum, { expected }) => sum + expected, 0), 0, 0];
  const byId = new Map(candidates.map((each) => [each.id, each]));
  for (const { id, watts } of sheds) {
    const [candidate, entry] = [byId.get(id), registry.find(id)];
    if (candidate === undefined || entry === undefined) continue;
    const seconds = orders.seconds(entry);
    const revenue = registry.display.jsonCache.current(id)?.figures?.earnings.revenuePerDay ?? null;
    const known = candidate.draw === null ? null : candidate.expected;
    sums.add({
      now: known,
      after: known === null ? null : watts,
      seconds: (watts === 0 ? seconds.off : seconds.setpoint) ?? 0,
      revenue,
    });
    after -= candidate.expected - watts;
    if (watts === 0) stopped += 1;
    else lowered += 1;
  }
  const { seconds, revenueLost, leftOut } = sums.preview(currency);
  const power = { now: Math.round(now), target: Math.round(limit ?? 0), after: Math.round(after), unknown };
  return { power, lowered, stopped, seconds, revenueLost, currency, leftOut };
}
