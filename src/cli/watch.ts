import type { Command } from "commander";
import { backOff } from "../async/index.ts";
import { isAway, RigbridgeError } from "../contract/problems.ts";
import type { MinerRow } from "../contract/rows.ts";
import type { Input } from "../contract/service.ts";
import { isColoured } from "./colours.ts";
import { failing } from "./failure.ts";
import { rigFields } from "./rig-table.ts";
import { type Client, caller, type ServiceOptions, serviceCommand, withService } from "./service-options.ts";
import { Terminal } from "./terminal.ts";
import { changeLine, screen, type Watched } from "./watch-screen.ts";

export function watchCommand(): Command {
  return serviceCommand("watch", "rigbridge watch")
    .description("Shows the rigs of a running service as they change; not on a terminal, a line for each new state.")
    .action(failing((options: ServiceOptions) => withService(options, watch)));
}

interface View {
  /** The rigs are listed for the first time, or again. */
  listed(watched: Watched): void;
  changed(watched: Watched, line: string | null): void;
  close(): void;
}

/** Until a signal. Throws the errors that only a person can resolve. */
async function watch(service: Client): Promise<void> {
  const end = new AbortController();
  const stop = () => end.abort();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, stop);
  // The reader of a pipe is gone.
  process.stdout.once("error", stop);
  const view = process.stdout.isTTY && process.env.TERM !== "dumb" ? tableView() : lineView();
  try {
    await new Watch(service, view, end.signal).run();
  } catch (error) {
    if (!end.signal.aborted) throw error;
  } finally {
    view.close();
  }
}

const fields = [...rigFields];
/** Between two attempts to read the lists again. */
const retryDelays = { firstMs: 1_000, longestMs: 15_000 };

class Watch {
  readonly #service: Client;
  readonly #view: View;
  readonly #signal: AbortSignal;
  #rigs = new Map<number, MinerRow>();
  #lost: string | null = null;

  constructor(service: Client, view: View, signal: AbortSignal) {
    this.#service = service;
    this.#view = view;
    this.#signal = signal;
  }

  async run(): Promise<void> {
    let after = await this.#list();
    for (let attempt = 1; !this.#signal.aborted; attempt += 1) {
      try {
        await this.#follow(after);
      } catch (error) {
        if (this.#signal.aborted || !(error instanceof RigbridgeError) || !isAway(error)) throw error;
        this.#reach(error);
      }
      await backOff(attempt, retryDelays, this.#signal);
      after = await this.#list().catch(() => after);
    }
  }

  /** Reads the rigs; returns the version from which their events follow. */
  async #list(): Promise<string> {
    const { miners, version } = await this.#service.listMinerRows({ view: "list", fields }, caller);
    this.#rigs = new Map(miners.map((row) => [row.id, row]));
    this.#view.listed(this.#watched);
    this.#reach(null);
    return version;
  }

  /** One stream, until it ends or the lists cannot be read again. */
  async #follow(after: string): Promise<void> {
    const types: Input<"watchMinerRows">["types"] = ["miner", "miner-removed", "site"];
    const input: Input<"watchMinerRows"> = { view: "list", fields, types, after };
    const reach = (error: Error | null) => this.#reach(error);
    for await (const event of this.#service.watchMinerRows(input, caller, this.#signal, reach)) {
      // All rigs of a site are out of reach, or are shown again.
      if (event.type === "reset" || event.type === "site") await this.#list();
      else if (event.type === "miner" || event.type === "miner-removed") {
        const before = this.#rigs.get(event.data.id);
        if (event.type === "miner") this.#rigs.set(event.data.id, event.data);
        else this.#rigs.delete(event.data.id);
        this.#view.changed(this.#watched, changeLine(before, this.#rigs.get(event.data.id)));
      }
    }
  }

  get #watched(): Watched {
    return { rigs: this.#rigs, lost: this.#lost };
  }

  /** Null: the service answers. */
  #reach(error: Error | null): void {
    const lost = error?.message ?? null;
    if ((lost === null) === (this.#lost === null)) return;
    this.#lost = lost;
    this.#view.changed(this.#watched, lost ?? "The service answers again");
  }
}

function tableView(): View {
  let latest: Watched | undefined;
  const terminal = new Terminal(process.stdout, (size) =>
    latest === undefined ? [] : screen(latest, size, isColoured(process.stdout)),
  );
  const show = (watched: Watched): void => {
    latest = watched;
    terminal.redraw();
  };
  return { listed: show, changed: show, close: () => terminal.close() };
}

/** Each line begins with the time, in UTC. */
function lineView(): View {
  const print = (line: string) => console.log(`${new Date().toISOString().slice(0, 19)}Z ${line}`);
  let known: Watched["rigs"] = new Map();
  return {
    listed: ({ rigs }) => {
      for (const id of new Set([...known.keys(), ...rigs.keys()])) {
        const line = changeLine(known.get(id), rigs.get(id));
        if (line !== null) print(line);
      }
      known = rigs;
    },
    changed: (_, line) => {
      if (line !== null) print(line);
    },
    close: () => undefined,
  };
}
