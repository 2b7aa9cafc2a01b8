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
import type { TryBroker } from "./trials/trials.ts";

/** What a service is started with. */
export interface ServiceOptions {
  readonly config: Config;
  /** The same with what was saved over the API, and where it comes from; by default `config` and what the store holds. */
  readonly settings?: SettingsBook;
  readonly store: Store;
  readonly log: Logger;
  /** Epoch ms. */
  readonly now?: () => number;
  /** Milliseconds of a clock that never jumps, for reads and commands; by default `performance.now`. */
  readonly monotonicNow?: () => number;
  /**
   * Virtual rigs to try things out, over the store. They are removed when the first real miner is added, unless there were
   * miners in the configuration or the store from the start.
   */
  readonly demo?: Demo;
  /**
   * Reads the configuration again; the function that it resolves with closes everything and starts it anew in this process.
   * Absent = only a start of the process does.
   */
  readonly restart?: () => Promise<() => void>;
  /** The machine's networks, searched unless a search names others; by default `os.networkInterfaces`. */
  readonly interfaces?: () => Interfaces;
  /** Runs the loops that control power and the outbox of channels; by default a timer. */
  readonly repeat?: Repeat;
  /** Of commands; by default those of the executor. */
  readonly commandTimeouts?: CommandTimeouts;
  /** All rules and schedules are off: they are listed, changed and deleted, and never evaluated. */
  readonly withoutRules?: boolean;
  /** Runs what rules and schedules do; by default the executor. */
  readonly runs?: Runs;
  /** Runs the turns of rules, once a second; by default a timer. */
  readonly ruleTurns?: Repeat;
  /** The same for profit switching. */
  readonly switchingTurns?: Repeat;
  /** The same for recording the history of the farm. */
  readonly historyTurns?: Repeat;
  /** Where plugs and sensors publish, such as an MQTT broker; absent = there is no broker. */
  readonly messages?: Messages;
  /** Tries settings of MQTT before they are saved; absent = it cannot. */
  readonly tryBroker?: TryBroker;
  /**
   * Events kept for subscribers that resume, of some 150 bytes each; by default 10,000. 1,000 do where no connection can
   * break, which is how far a subscriber may fall behind.
   */
  readonly eventsKept?: number;
  /** ms in which a host's agent may connect again before its miners are disconnected; by default 10 s. */
  readonly agentGraceMs?: number;
  /** The port at which the service is served, once it is, where `http.port` is 0. */
  readonly ownPort?: () => number | null;
}
