import type { Logger } from "pino";
import type { Config } from "../config/schema.ts";
import type { Messages } from "../contract/messages.ts";
import type { Interfaces } from "../link/networks.ts";
import type { Store } from "../store/index.ts";
import type { Runs } from "./automation/run-types.ts";
import type { CommandTimeouts } from "./commands/command-executor.ts";
import type { Demo } from "./demo/demo.ts";
import type { Repeat } from "./repeat.ts";
import type { SettingsBook } from "./settings/settings-book.ts";
import type { FindTopics, TryBroker, TryReceiver } from "./trials/trials.ts";

/** Options of the service. */
export interface ServiceOptions {
  readonly config: Config;
  /** The settings as saved over the API, and their origin; by default `config` and the content of the store. */
  readonly settings?: SettingsBook;
  readonly store: Store;
  readonly log: Logger;
  /** Epoch ms. */
  readonly now?: () => number;
  /** ms of the monotonic clock, for reads and commands; by default `performance.now`. */
  readonly monotonicNow?: () => number;
  /**
   * Virtual rigs to try things out, over the store. They are removed when the first real miner is added, unless there were
   * miners in the configuration or the store from the start.
   */
  readonly demo?: Demo;
  /**
   * Reads the configuration again; resolves with a function that closes everything and restarts it in this process.
   * Absent: only a restart of the process does so.
   */
  readonly restart?: () => Promise<() => void>;
  /** The machine's networks, searched by default; by default `os.networkInterfaces`. */
  readonly interfaces?: () => Interfaces;
  /** UDP ports of the reports of rigs; by default those of the makers. */
  readonly reportPorts?: readonly number[];
  /** Runs the loops that control power and the outbox of channels; by default a timer. */
  readonly repeat?: Repeat;
  /** Timeouts of commands; by default those of the executor. */
  readonly commandTimeouts?: CommandTimeouts;
  /** Turns all rules and schedules off: they can be listed, changed and deleted, but are never evaluated. */
  readonly withoutRules?: boolean;
  /** Runs the steps of rules and schedules; by default the executor. */
  readonly runs?: Runs;
  /** Runs the turns of rules, once a second; by default a timer. */
  readonly ruleTurns?: Repeat;
  /** Runs the turns of profit switching; by default a timer. */
  readonly switchingTurns?: Repeat;
  /** Runs the turns of the farm's history; by default a timer. */
  readonly historyTurns?: Repeat;
  /** Messages of plugs and sensors, such as over an MQTT broker; absent: there is no broker. */
  readonly messages?: Messages;
  /** Tests MQTT settings before they are saved; absent: not supported. */
  readonly tryBroker?: TryBroker;
  /** Tests remote write before it is saved; absent: not supported. */
  readonly tryReceiver?: TryReceiver;
  /** Lists a broker's topics with numbers; absent: not supported, none are suggested. */
  readonly findTopics?: FindTopics;
  /**
   * Events kept for resuming subscribers, some 150 bytes each; by default 10,000. 1,000 are enough where no connection
   * can break; they limit how far a subscriber may fall behind.
   */
  readonly eventsKept?: number;
  /** ms within which a host's agent may reconnect before its miners count as disconnected; by default 10 s. */
  readonly agentGraceMs?: number;
  /** The actual port of the server once it listens, for `http.port` 0. */
  readonly ownPort?: () => number | null;
}
