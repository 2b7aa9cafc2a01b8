import { loopAction } from "../commands/actions.ts";
import type { Core } from "../core.ts";
import { declareHeatings } from "../power/heating.ts";
import { Loops } from "../power/loops.ts";
import { roomOperations } from "../power/room-operations.ts";
import type { ServiceRoom } from "../room.ts";
import type { Commands } from "./commands.ts";
import type { Miners } from "./miners.ts";

export type Power = ReturnType<typeof openPower>;

/** The loops that control power, and the heated rooms of a house. */
export function openPower(core: Core, miners: Miners, commands: Commands) {
  const { store, log, now, accessBook, repeat, messages, rates, localTime } = core;
  const settings = core.settings.part("control loops", ["heating", "follow"]);
  const { registry, notices, power, ledgers } = miners;
  const { executor, holds, runOnRig } = commands;
  const loops = new Loops({
    registry,
    store,
    power,
    holds,
    now,
    log,
    notices,
    runOnRig,
    repeat,
    messages,
    settings: settings.now,
  });
  settings.onChange(async ({ heating }) => {
    await declareHeatings(heating, store);
    await loops.renew();
  });
  const runOnLoop = loopAction(loops, executor);
  executor.watch((command) => loops.onCommand(command));
  return {
    loops,
    runOnLoop,
    operations: roomOperations({
      registry,
      accessBook,
      executor,
      runOnRig,
      runOnLoop,
      now,
      rates,
      loops,
      power,
      holds,
      localTime,
      sumsOf: ledgers.sumsOf,
    }),
    start: () => loops.start(),
    settled: () => loops.settled(),
    close: () => loops.close(),
  } satisfies ServiceRoom;
}
