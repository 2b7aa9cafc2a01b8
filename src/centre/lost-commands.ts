import type { Command } from "../contract/resources.ts";
import type { MiningService, Reply } from "../contract/service.ts";
import { highestThere, numberAt, siteOf } from "../contract/site-numbers.ts";
import { LostAnswers, lostText, type Place } from "./lost-answers.ts";

interface Lost {
  readonly command: Command;
  /** With which the site knows the request. */
  readonly key: string;
}

interface Asking {
  /** Tells subscribers. */
  changed(command: Command): void;
  /** The command at the site with this number, with the numbers of the centre. */
  find(site: number, key: string): Promise<Reply<"listCommands">>;
}

/** The oldest are dropped; the logs of the sites keep what happened. */
const most = 1_000;

/**
 * Commands for rigs of sites whose answer was lost with the line: unknown until the site is back and has been asked for
 * them by their key. They have the highest numbers of their site, which its own commands do not reach.
 */
export class LostCommands {
  readonly #asking: Asking;
  #lost: Lost[] = [];
  #next = highestThere;
  readonly #questions: LostAnswers<Lost>;

  constructor(asking: Asking) {
    this.#asking = asking;
    this.#questions = new LostAnswers({
      next: ({ id: site }) =>
        this.#lost.find(({ command: { id, state } }) => siteOf(id) === site && state === "unknown"),
      ask: async (site, lost) => {
        const { commandList } = await asking.find(site.id, lost.key);
        this.#resolved(site, lost, commandList[0]);
      },
    });
  }

  add(
    site: Place,
    what: Pick<Command, "minerId" | "minerName" | "action" | "parameters" | "actor">,
    key: string,
  ): void {
    const time = new Date().toISOString();
    const message = lostText(site);
    const command: Command = {
      ...what,
      id: numberAt(site.id, this.#next),
      state: "unknown",
      message,
      time,
      updated: time,
    };
    this.#next -= 1;
    this.#lost = [...this.#lost, { command, key }].slice(-most);
    this.#asking.changed(command);
    // The site may have been reached all the time.
    if (site.isReached) void this.resolve(site);
  }

  /** Newest first. */
  list({ miner, actor, since }: Parameters<MiningService["listCommands"]>[0]): Command[] {
    const from = since ?? 0;
    return this.#lost
      .map(({ command }) => command)
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
  #resolved(site: Place, lost: Lost, found: Command | undefined): void {
    const { command } = lost;
    const message =
      found === undefined
        ? `Nothing was done: ${site.name} has no such command`
        : `It is command ${found.id}: ${found.message}`;
    const ended: Command = { ...command, state: found?.state ?? "failed", message, updated: new Date().toISOString() };
    this.#lost =
      found === undefined
        ? this.#lost.map((each) => (each === lost ? { ...lost, command: ended } : each))
        : this.#lost.filter((each) => each !== lost);
    this.#asking.changed(ended);
  }
}

/** The parameters of an action as the log shows them. */
export const parametersOf = (input: object): Command["parameters"] =>
  Object.fromEntries(
    Object.entries(input).filter(([name, value]) => !["id", "action"].includes(name) && typeof value !== "object"),
  );
