import type { Logger } from "pino";
import type { StoredCommand } from "../../store/index.ts";
import { actionSteps, rigAction } from "../commands/actions.ts";
import { CommandExecutor } from "../commands/command-executor.ts";
import { commandOperations, presentCommand } from "../commands/commands.ts";
import { ChangeRecorder, storyOperations } from "../commands/story.ts";
import type { Core } from "../core.ts";
import { managedSteps } from "../hosts/managed-steps.ts";
import { PowerHolds, powerGuard } from "../power/power-holds.ts";
import { isForSafety } from "../power/precedence.ts";
import type { ServiceRoom } from "../room.ts";
import type { Miners } from "./miners.ts";

export type Commands = ReturnType<typeof openCommands>;

/** Single commands to rigs. */
export function openCommands(core: Core, { registry, managed, power, operations }: Miners) {
  const { options, store, log, now, accessBook, book, coins, shares, events } = core;
  const executor = new CommandExecutor(registry.fleet, store, log, options.commandTimeouts, isForSafety);
  const stepsOf = actionSteps(book, power, managedSteps(store, coins, managed));
  const holds = new PowerHolds({ store, power, now });
  executor.watch((command) => {
    holds.onCommand(command);
    logEnd(log, command);
    events.command(presentCommand(command));
  });
  const changes = new ChangeRecorder({ executor, store, isManaged: (id) => registry.isManaged(id), log });
  registry.readings.watchChanges((entry, change) => changes.take(entry, change));
  return {
    executor,
    stepsOf,
    holds,
    runOnRig: rigAction(registry, executor, stepsOf, accessBook, powerGuard(holds)),
    operations: {
      ...commandOperations(registry, store, accessBook, shares, executor),
      ...storyOperations({ registry, accessBook, executor, operations }),
    },
    settled: async () => {
      await changes.settled();
      await executor.settled();
    },
    close: async () => {
      await executor.close();
      await changes.settled();
    },
  } satisfies ServiceRoom;
}

/** Logs a line for each command that has ended. */
function logEnd(log: Logger, { id, minerId, minerName, actor, action, state, message }: StoredCommand): void {
  if (state === "queued" || state === "sent") return;
  const line = { command: id, miner: minerId, name: minerName, action, actor, state, message };
  if (state === "done") log.info(line, "a command is done");
  else log.warn(line, "a command is not done");
}
