import type { Store } from "../../store/index.ts";
import type { Core } from "../core.ts";
import { Curtailments } from "../curtailment/curtailments.ts";
import { curtailmentOperations } from "../curtailment/operations.ts";
import { PlaceLimits } from "../curtailment/place-limits.ts";
import { CurtailmentPlans } from "../curtailment/plans.ts";
import { RigOrders } from "../curtailment/rig-orders.ts";
import { namingRule, ruleCurtailments } from "../curtailment/rule-curtailments.ts";
import { seesAll } from "../curtailment/scope-rigs.ts";
import { Signals } from "../curtailment/signals/signals.ts";
import { DayEfficiency, efficiencyTurnMs } from "../history/day-efficiency.ts";
import type { ServiceRoom } from "../room.ts";
import type { AccessBook } from "../users/access.ts";
import type { RunsRoom } from "./automation.ts";
import type { Commands } from "./commands.ts";
import type { Miners } from "./miners.ts";
import type { Rules } from "./rules.ts";

/** ms between two turns. */
const turnMs = 1_000;

/** All groups if the user is gone. */
function groupsSeenBy(userId: number, accessBook: AccessBook, { users }: Pick<Store, "users">) {
  const user = users.get(userId);
  if (user === undefined || user.disabled) return () => true;
  const access = accessBook.of({ actor: user.name, userId });
  return (groupId: number): boolean => access.seesGroup(groupId);
}

export type CurtailmentRoom = ReturnType<typeof openCurtailment>;

/** Less power for a time: by people, plans, signals, and the limits of places. */
export function openCurtailment(
  core: Core,
  miners: Miners,
  { executor, holds, runOnRig }: Commands,
  rules: Rules,
  steps: RunsRoom,
) {
  const { store, log, now, monotonicNow, repeat, accessBook, shares, rates, places, devices, records } = core;
  const { registry, notices, power } = miners;
  const { maintenance } = rules.automation;
  const efficiency = new DayEfficiency({
    minerIds: () => Array.from(registry.all(), ({ facts }) => facts.id),
    recorderOf: records.recorderOf,
    now,
    monotonicNow,
  });
  const scopes = {
    registry,
    store,
    places,
    devices,
    power,
    holds,
    orders: new RigOrders({ power, runOnRig, now }),
    dayEfficiency: (minerId: number) => efficiency.of(minerId),
    maintenanceOf: maintenance.over.bind(maintenance),
  };
  const curtailments = new Curtailments({
    ...scopes,
    curtailments: store.curtailments,
    seenBy: (userId) => (userId === null ? () => true : groupsSeenBy(userId, accessBook, store)),
    notices,
    log,
    now,
    monotonicNow,
  });
  executor.watch((command) => curtailments.onCommand(command));
  const settings = core.settings.part("signals of curtailments", ["signals", "display"]);
  const plans: CurtailmentPlans = new CurtailmentPlans({
    store,
    curtailments,
    accessBook,
    scopeMistakes: rules.scopeMistakes,
    namedBy: (key) => {
      const named = settings.now.signals.find(({ plan }) => plan === key);
      return named === undefined ? namingRule(key, store) : `the signal ${named.key}`;
    },
    seesAll: (scope, access) => seesAll(scope, access, scopes),
  });
  const limits = new PlaceLimits({ scopes, curtailments, notices, log, monotonicNow });
  let stop = (): void => undefined;
  let stopEfficiency = (): void => undefined;
  const turn = async (): Promise<void> => {
    await limits.turn();
    await curtailments.turn();
  };
  const signals = new Signals({
    curtailments,
    plans,
    notices,
    log,
    now,
    repeat,
    kept: store.keptValues,
    messages: core.messages,
    monotonicNow: core.monotonicNow,
    localTime: core.format.localTime,
    zone: () => settings.now.display.timeZone,
  });
  const started = Promise.withResolvers<void>();
  steps.useCurtailments(ruleCurtailments({ curtailments, plans, started: started.promise, now }));
  settings.onChange(({ signals: declared }) => signals.follow(declared));
  const unwatch = core.hooks.watchHooks(({ name, payload }) => signals.receive(name, payload));
  return {
    curtailments,
    plans,
    operations: {
      ...plans.operations,
      listSignals: async (_input, caller) => {
        const access = accessBook.of(caller);
        return signals.views().filter(({ plan }) => access.all || plans.isVisible(plan, access));
      },
      ...curtailmentOperations({
        scopes,
        curtailments,
        plans,
        store,
        registry,
        accessBook,
        shares,
        rates,
        scopeMistakes: rules.scopeMistakes,
        now,
      }),
    },
    start: async (): Promise<void> => {
      await curtailments.start();
      stop = repeat(turn, turnMs);
      stopEfficiency = repeat(() => efficiency.turn(), efficiencyTurnMs);
      started.resolve();
      signals.follow(settings.now.signals);
    },
    settled: async () => {
      // Their steps begin curtailments.
      await steps.runs.settled();
      await signals.settled();
      await curtailments.settled();
    },
    close: async (): Promise<void> => {
      stop();
      stopEfficiency();
      unwatch();
      await efficiency.close();
      await signals.close();
      await limits.settled();
      await curtailments.close();
    },
  } satisfies ServiceRoom;
}
