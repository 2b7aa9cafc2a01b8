import { pause } from "../async/index.ts";
import { type ProblemCode, RigbridgeError } from "../contract/problems.ts";
import type { Command } from "../contract/resources.ts";
import type { MiningService, Reply } from "../contract/service.ts";
import { highestThere, numberAt, siteOf } from "../contract/site-numbers.ts";
import type { Site } from "./site.ts";

type Place = Pick<Site, "id" | "name" | "isReached">;

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

/** ms after which a site is asked again whose answer to that was lost, too. */
const againMs = 1_000;

/** After others, such as that of an older release which cannot be asked, a command stays unknown. */
const passing: ReadonlySet<ProblemCode> = new Set([
  "service.unreachable",
  "service.garbled",
  "service.not-ready",
  "request.timeout",
  "too.many",
]);

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
  /** Sites that are being asked. */
  readonly #asked = new Set<number>();
  readonly #closing = new AbortController();

  constructor(asking: Asking) {
    this.#asking = asking;
  }

  add(
    site: Place,
    what: Pick<Command, "minerId" | "minerName" | "action" | "parameters" | "actor">,
    key: string,
  ): void {
    const time = new Date().toISOString();
    const message = `The line to ${site.name} was lost before it answered; it is asked when it is back`;
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
  async resolve(site: Place): Promise<void> {
    if (this.#asked.has(site.id)) return;
    this.#asked.add(site.id);
    try {
      // A site that is lost again is asked when it is back.
      for (let next = this.#nextOf(site); next !== undefined && site.isReached; next = this.#nextOf(site)) {
        if (!(await this.#ask(site, next))) return;
      }
    } finally {
      this.#asked.delete(site.id);
    }
  }

  close(): void {
    this.#closing.abort();
  }

  #nextOf({ id: site }: Place): Lost | undefined {
    if (this.#closing.signal.aborted) return undefined;
    return this.#lost.find(({ command: { id, state } }) => siteOf(id) === site && state === "unknown");
  }

  /** False if the site does not say what has become of it, and is not to be asked again. */
  async #ask(site: Place, lost: Lost): Promise<boolean> {
    try {
      const { commandList } = await this.#asking.find(site.id, lost.key);
      this.#resolved(site, lost, commandList[0]);
      return true;
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      if (!passing.has(error.code)) return false;
      await pause(againMs, this.#closing.signal);
      return true;
    }
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

/** Whether a site may have done what it was asked, although its answer did not arrive. */
export const isLost = (error: unknown): boolean =>
  error instanceof RigbridgeError && (error.code === "service.unreachable" || error.code === "service.garbled");

/** The parameters of an action as the log shows them. */
export const parametersOf = (input: object): Command["parameters"] =>
  Object.fromEntries(
    Object.entries(input).filter(([name, value]) => !["id", "action"].includes(name) && typeof value !== "object"),
  );
