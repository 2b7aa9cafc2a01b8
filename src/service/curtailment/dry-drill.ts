import { RigbridgeError } from "../../contract/problems.ts";
import { targetWatts } from "../../contract/target-watts.ts";
import type { StoredCurtailedRig, StoredCurtailment } from "../../store/index.ts";
import { rankOfCurtailment, toleranceOf } from "./curtailment-figures.ts";
import { type SheddingRig, shed } from "./curtailment-law.ts";
import { exemptPlaces, rigsIn, type ScopeContext, type ScopeRig, sheddingRig } from "./scope-rigs.ts";

type Drilled = Pick<
  StoredCurtailment,
  "scope" | "order" | "level" | "ramp" | "urgent" | "safety" | "cause" | "target" | "baseline"
>;

/** The command that each rig would be sent by its reading, and which rigs do not answer. */
export async function drilledRows(
  wanted: Drilled,
  context: ScopeContext,
): Promise<ReadonlyMap<number, StoredCurtailedRig>> {
  const rigs = await rigsIn(wanted.scope, wanted.order, context);
  const manner = { ...wanted, rank: rankOfCurtailment(wanted), since: null };
  const exempt = exemptPlaces(context.places);
  const candidates: SheddingRig[] = [];
  const rows = new Map<number, StoredCurtailedRig>();
  let others = 0;
  for (const each of rigs)
    try {
      candidates.push(sheddingRig(each, manner, exempt, context));
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      others += each.expected;
      if (error.code === "rig.unreachable") rows.set(each.entry.facts.id, rowOf(each, "away", 0, error.message));
    }
  const aim = {
    target: targetWatts(wanted.target, wanted.baseline),
    level: wanted.level,
    tolerance: toleranceOf(wanted.baseline),
    allowance: Number.POSITIVE_INFINITY,
  };
  const byId = new Map(rigs.map((each) => [each.entry.facts.id, each]));
  for (const { id, watts } of shed(candidates, others, aim)) {
    const found = byId.get(id);
    if (found !== undefined) rows.set(id, rowOf(found, "released", watts, "Nothing was sent: it was a drill"));
  }
  return rows;
}

const rowOf = (
  { entry: { facts, rig }, view }: ScopeRig,
  state: StoredCurtailedRig["state"],
  wanted: number,
  message: string,
): StoredCurtailedRig => ({
  name: facts.name,
  uid: rig.state.uid,
  state,
  before: { power: view.draw, setting: view.setting },
  wanted,
  sent: null,
  reached: null,
  restored: null,
  tries: 0,
  gaveUp: false,
  wakes: 0,
  message,
});
