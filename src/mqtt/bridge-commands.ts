import type { Logger } from "pino";
import { logLevels } from "../config/log-levels.ts";
import { inAnyCase } from "../contract/nearest.ts";
import { invalid } from "../contract/problems.ts";
import { isRecord } from "../contract/record.ts";
import type { CommandInbox } from "./command-inbox.ts";
import type { Message } from "./mqtt-link.ts";
import { commandTopic, type Topics } from "./topics.ts";

/**
 * Prepares a restart of the program in this process, and resolves with the function that starts it. Rejects with
 * `config.invalid` if the configuration is invalid.
 */
export type PrepareRestart = () => Promise<() => void>;

export interface BridgeCommandsOptions {
  readonly inbox: CommandInbox;
  readonly topics: Topics;
  readonly base: string;
  readonly log: Logger;
  readonly restart: PrepareRestart | undefined;
  /** Called when the log level has changed. */
  readonly changed: () => void;
}

/** Commands for the bridge itself: its log level, and a restart. */
export class BridgeCommands {
  readonly #options: BridgeCommandsOptions;

  constructor(options: BridgeCommandsOptions) {
    this.#options = options;
  }

  async handle(message: Message): Promise<void> {
    const { base, inbox, topics } = this.#options;
    const topic = commandTopic(base, message.topic);
    if (topic?.kind !== "bridge") return;
    await inbox.take(message, topics.bridge.response, async (value) => {
      return {
        data:
          topic.sets === null ? await this.#act(textIn(value, "action")) : this.#setLogLevel(textIn(value, "value")),
      };
    });
  }

  async #act(action: string): Promise<object> {
    const { restart } = this.#options;
    if (restart === undefined || inAnyCase(action, ["restart"]) === undefined)
      throw invalid("action", restart === undefined ? "is not offered by this bridge" : "must be restart");
    const begin = await restart();
    // The response is published first.
    setImmediate(begin);
    return { state: "sent" };
  }

  #setLogLevel(wanted: string): object {
    const { log, changed } = this.#options;
    const level = inAnyCase(wanted, logLevels);
    if (level === undefined) throw invalid("log_level", `must be one of ${logLevels.join(", ")}`);
    log.level = level;
    changed();
    return { log_level: level };
  }
}

/** A payload that is a word, or JSON with the word under this key. */
function textIn(payload: unknown, key: string): string {
  const value = isRecord(payload) ? payload[key] : payload;
  if (typeof value === "string") return value;
  throw invalid(key, "must be a text");
}
