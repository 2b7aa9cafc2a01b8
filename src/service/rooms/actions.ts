import { RigbridgeError } from "../../contract/problems.ts";
import type { Caller } from "../../contract/service.ts";
import type { Detail } from "../../messages/coded-text.ts";
import { detail } from "../../messages/detail.ts";
import { bulkRequest } from "../automation/bulk-request.ts";
import { listOf } from "../automation/lists.ts";
import type { LiveRule } from "../automation/rules/live-rule.ts";
import { type Action, actionOperations } from "../commands/actions.ts";
import type { Core } from "../core.ts";
import type { ServiceRoom } from "../room.ts";
import type { RunsRoom } from "./automation.ts";
import type { Commands } from "./commands.ts";
import type { Miners } from "./miners.ts";
import type { Power } from "./power.ts";
import type { Rules } from "./rules.ts";

/** Manual actions on one miner and on many. The limits and the guard of a rule apply to them too. */
export function openActions(
  { store, accessBook }: Core,
  { registry, usable }: Miners,
  { executor, runOnRig }: Commands,
  { runOnLoop }: Power,
  { bulk, runList }: RunsRoom,
  { automation }: Rules,
) {
  const manualRule = (action: Action, caller: Caller) => {
    const list = listOf(action, store, usable, accessBook.of(caller));
    return list?.kind === "manual" ? automation.engine.find(list.id) : undefined;
  };
  /** The miners that the rule applies to. Throws `nothing.to.do`. */
  const inScope = (rule: LiveRule, minerIds: readonly number[]): number[] => {
    const members = new Set(automation.engine.members(rule));
    const inside = minerIds.filter((id) => members.has(id));
    if (inside.length > 0) return inside;
    const textOf = (why: Detail | string): string => (typeof why === "string" ? why : why.text);
    const reasons = new Map(minerIds.map((id) => automation.engine.whyNot(rule, id)).map((why) => [textOf(why), why]));
    const [only = "", another] = reasons.values();
    const why = another === undefined ? only : [...reasons.keys()].join("; ");
    const { name } = rule.settings;
    throw new RigbridgeError(
      "nothing.to.do",
      minerIds.length === 1
        ? detail("rule.notThis", { rule: name, why })
        : detail("rule.notThese", { rule: name, count: minerIds.length, why }),
    );
  };
  const runByHand: typeof runList = async (input, caller) => {
    registry.entryFor(input.id, accessBook.of(caller));
    const rule = manualRule(input, caller);
    const run = (begun?: (runId: number) => void) => runList(input, caller, begun);
    return rule === undefined
      ? run()
      : automation.firing.byHand(rule, inScope(rule, [input.id]), caller, run, (reply) => reply?.message ?? "");
  };
  const startBulkAction: typeof bulk.startBulkAction = async (body, caller) => {
    if (body.action !== "rule") return bulk.startBulkAction(body, caller);
    const { action, minerIds } = bulkRequest(body, registry, store, accessBook.of(caller));
    const rule = manualRule(action, caller);
    if (rule === undefined) return bulk.startBulkAction(body, caller);
    const miners = inScope(rule, minerIds);
    const { all: _, groups: __, places: ___, ...rest } = body;
    const start = async (begun: (runId: number) => void = () => undefined) => {
      const started = await bulk.startBulkAction({ ...rest, miners }, caller);
      begun(started.id);
      return started;
    };
    return body.dryRun
      ? start()
      : automation.firing.byHand(
          rule,
          miners,
          caller,
          start,
          ({ id }) => `as action ${id} for ${miners.length} miners`,
        );
  };
  return {
    operations: {
      ...actionOperations(registry, executor, runOnRig, accessBook, runOnLoop, runByHand),
      startBulkAction,
      listBulkActions: bulk.listBulkActions,
      getBulkAction: bulk.getBulkAction,
      cancelBulkAction: bulk.cancelBulkAction,
      locatePlace: bulk.locatePlace,
    },
  } satisfies ServiceRoom;
}
