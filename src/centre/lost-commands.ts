import type { Command } from "../contract/resources.ts";
import type { MiningService, Reply } from "../contract/service.ts";
import { highestThere, numberAt } from "../contract/site-numbers.ts";
import type { Collection, Stored, StoredLostCommand } from "../store/index.ts";
import { LostAnswers, lostText, type Place } from "./lost-answers.ts";

type Lost = Stored<StoredLostCommand>;

interface Asking {
  /** Tells subscribers. */
  changed(command: Command): void;
  /** The command at the site with this number, with the numbers of the centre. */
  find(site: number, request: string): Promise<Reply<"listCommands">>;
}

/** The oldest are dropped; the logs of the sites keep what happened. */
const most = 1_000;

/**
 * Commands for rigs of sites whose answer was lost with the line: unknown until the site is back and has been asked for
 * them by their key, also by the next run. They have the highest numbers of their site, which its own commands do not
 * reach.
 */
export class LostCommands {
  readonly #stored: Collection<StoredLostCommand>;
  readonly #asking: Asking;
  readonly #questions: LostAnswers<Lost>;

  constructor(stored: Collection<StoredLostCommand>, asking: Asking) {
    this.#stored = stored;
    this.#asking = asking;
    this.#questions = new LostAnswers({
      next: ({ id }) => stored.all().find(({ site, state }) => site === id && state === "unknown"),
      ask: async (site, lost) => {
        const { commandList } = await asking.find(site.id, lost.request);
        await this.#resolved(site, lost, commandList[0]);
      },
    });
  }

  async add(
    site: Place,
    what: Pick<Command, "minerId" | "minerName" | "action" | "parameters" | "actor">,
    request: string,
  ): Promise<void> {
    const time = new Date().toISOString();
    const lost = {
      ...what,
      site: site.id,
      request,
      state: "unknown" as const,
      message: lostText(site),
      time,
      updated: time,
    };
    const added = await this.#stored.add(lost);
    const [oldest] = this.#stored.all();
    if (oldest !== undefined && this.#stored.all().length > most) await this.#stored.remove(oldest.id);
    this.#asking.changed(shown(added));
    // The site may have been reached all the time.
    if (site.isReached) void this.resolve(site);
  }

  /** Newest first. */
  list({ miner, actor, since }: Parameters<MiningService["listCommands"]>[0]): Command[] {
    const from = since ?? 0;
    return this.#stored
      .all()
      .map(shown)
      .filter(({ minerId }) => miner === undefined || minerId === miner)
      .filter((command) => (actor === undefined || command.actor === actor) && Date.parse(command.time) >= from)
      .toReversed();
  }

  /** Asks a site that is back what has become of its lost commands. */
  resolve(site: Place): Promise<void> {
    return this.#questions.resolve(site);
  }

  close(): void {
    this.#questions.close();
  }

  /** A command that the site has is in its own log, so that the one here is dropped. */
  async #resolved(site: Place, lost: Lost, found: Command | undefined): Promise<void> {
    // It may have been dropped meanwhile.
    if (this.#stored.get(lost.id) === undefined) return;
    const message =
      found === undefined
        ? `Nothing was done: ${site.name} has no such command`
        : `It is command ${found.id}: ${found.message}`;
    const ended = { state: found?.state ?? "failed", message, updated: new Date().toISOString() } as const;
    if (found === undefined) await this.#stored.change(lost.id, ended);
    else await this.#stored.remove(lost.id);
    this.#asking.changed({ ...shown(lost), ...ended });
  }
}

/** As it is shown at the centre. */
function shown({ id, site, request: _, owner: __, key: ___, disabled: ____, ...command }: Lost): Command {
  return { ...command, id: numberAt(site, highestThere - id) };
}

/** The parameters of an action as the log shows them. */
export const parametersOf = (input: object): Command["parameters"] =>
  Object.fromEntries(
    Object.entries(input).filter(([name, value]) => !["id", "action"].includes(name) && typeof value !== "object"),
  );
