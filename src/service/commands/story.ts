import type { Logger } from "pino";
import type { Caller, Input, MiningService } from "../../contract/service.ts";
import { isStoryAction, storyActions } from "../../contract/story.ts";
import type { Store } from "../../store/index.ts";
import { done } from "../crud.ts";
import type { Entry } from "../miners/miner-entries.ts";
import type { MinerRegistry } from "../miners/miner-registry.ts";
import type { RigChange } from "../miners/rig-changes.ts";
import type { AccessBook } from "../users/access.ts";
import { commandSpec } from "./actions.ts";
import type { CommandExecutor } from "./command-executor.ts";

interface StoryContext {
  readonly registry: Pick<MinerRegistry, "entryFor">;
  readonly accessBook: AccessBook;
  readonly executor: Pick<CommandExecutor, "enqueue" | "record">;
  readonly operations: Pick<MiningService, "changeMiner" | "getMiner">;
}

/** What people write of a rig is recorded beside its commands: notes, and when it went in repair and came back. */
export function storyOperations({
  registry,
  accessBook,
  executor,
  operations: { changeMiner, getMiner },
}: StoryContext): Pick<MiningService, "changeMiner" | "addMinerNote"> {
  /** Null for a change that begins, changes and ends no repair. */
  const repairIn = ({ id, repair }: Input<"changeMiner">, caller: Caller) => {
    if (repair === undefined) return null;
    const entry = registry.entryFor(id, accessBook.of(caller));
    const before = entry.facts.repair;
    if (repair === null) return before === null ? null : commandSpec(entry, { action: storyActions.repairEnd });
    const { note } = repair;
    return before?.note === note
      ? null
      : commandSpec(entry, { action: storyActions.repair, ...(note === "" ? {} : { note }) });
  };
  return {
    changeMiner: async (input, caller) => {
      const spec = repairIn(input, caller);
      if (spec === null) return changeMiner(input, caller);
      await executor.record(spec, caller, async () => {
        await changeMiner(input, caller);
        return "";
      });
      return getMiner({ id: input.id }, caller);
    },
    addMinerNote: async ({ id, note }, caller) => {
      const entry = registry.entryFor(id, accessBook.of(caller));
      await executor.enqueue({ ...commandSpec(entry, { action: storyActions.note, note }), done: "" }, caller);
      return done(`Noted of ${entry.facts.name}`);
    },
  };
}

/** ms before a start of mining within which a command may have caused it: rigs take some minutes to restart. */
const causeMs = 15 * 60_000;

interface ChangeContext {
  readonly executor: Pick<CommandExecutor, "enqueue">;
  readonly store: Pick<Store, "commands">;
  readonly isManaged: (minerId: number) => boolean;
  readonly log: Logger;
}

/** Records the restarts that nobody commanded, and other firmware: one after another, since after a power cut all rigs restart. */
export class ChangeRecorder {
  readonly #context: ChangeContext;
  #last: Promise<void> = Promise.resolve();

  constructor(context: ChangeContext) {
    this.#context = context;
  }

  /** The start of a program is that of its host, which says itself what it does. */
  take(entry: Entry, change: RigChange): void {
    const { isManaged, log } = this.#context;
    if (isManaged(entry.facts.id)) return;
    this.#last = this.#last
      .then(() => this.#record(entry, change))
      .catch((error: unknown) => log.error({ err: error, miner: entry.facts.id }, "a change of a rig is not recorded"));
  }

  /** Resolves when all are stored. */
  settled(): Promise<void> {
    return this.#last;
  }

  async #record(entry: Entry, change: RigChange): Promise<void> {
    if (change.kind === "restart" && (await this.#isCommanded(entry.facts.id, change.startedAt))) return;
    const spec =
      change.kind === "restart"
        ? commandSpec(entry, { action: storyActions.restart })
        : commandSpec(entry, { action: storyActions.firmware, from: change.from, to: change.to });
    await this.#context.executor.enqueue({ ...spec, done: "" }, { actor: "service" });
  }

  /** Whether anything was sent to the rig shortly before: also settings restart a miner. */
  async #isCommanded(minerId: number, startedAt: number): Promise<boolean> {
    const sent = await this.#context.store.commands.list({ minerIds: [minerId], since: startedAt - causeMs });
    return sent.some(({ action, state }) => !isStoryAction(action) && state !== "failed");
  }
}
