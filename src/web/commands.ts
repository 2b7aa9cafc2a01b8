import { useCallback, useEffect, useState } from "preact/hooks";
import type { Command, CommandState } from "../contract/resources.ts";
import { call } from "./api.ts";
import { onEvent } from "./live.ts";
import { type Loaded, useReconnects } from "./parts/load.tsx";
import { problemText } from "./parts/messages.tsx";
import { may } from "./session.ts";

export interface CommandFilter {
  readonly miner?: number | undefined;
  readonly actor?: string | undefined;
  /** Epoch ms. */
  readonly since?: number | undefined;
}

/** Newest first. */
export type Commands = Loaded<readonly Command[]>;

/** Maximum commands in one answer. */
export const mostCommands = 1000;
/** ms between two renderings of new events: a bulk action causes thousands. */
const flushMs = 300;

export const isPending = (state: CommandState): boolean => state === "queued" || state === "sent";

const matches = (command: Command, { miner, actor, since }: CommandFilter): boolean =>
  (miner === undefined || command.minerId === miner) &&
  (actor === undefined || command.actor === actor) &&
  (since === undefined || Date.parse(command.time) >= since);

/** The list with newer states of some of its commands, and with new ones. */
export function withNewer(list: readonly Command[], newer: readonly Command[]): Command[] {
  const byId = new Map(list.map((command) => [command.id, command]));
  for (const command of newer) byId.set(command.id, command);
  // By time first: commands of a demo have ids of their own.
  const byAge = (one: Command, other: Command): number =>
    Date.parse(other.time) - Date.parse(one.time) || other.id - one.id;
  return [...byId.values()].sort(byAge).slice(0, mostCommands);
}

/** The commands in the audit that pass a filter, kept up to date by events. `null`: none. */
export function useCommands(filter: CommandFilter | null): Commands {
  const [state, setState] = useState<Omit<Commands, "reload">>({ value: undefined, problem: null });
  const [turn, setTurn] = useState(0);
  const reconnects = useReconnects();
  useEffect(() => {
    if (filter === null || !may("listCommands")) return undefined;
    const ending = new AbortController();
    let arrived: Command[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const flush = () => {
      timer = undefined;
      const newer = arrived;
      arrived = [];
      setState(({ value, problem }) => ({ value: value && withNewer(value, newer), problem }));
    };
    const stop = onEvent(({ type, data }) => {
      if (type !== "command") return;
      // The shape is that of the service's own contract.
      const command = data as Command;
      if (!matches(command, filter)) return;
      arrived.push(command);
      timer ??= setTimeout(flush, flushMs);
    });
    call("listCommands", filter, { signal: ending.signal })
      .then(({ commandList }) => setState({ value: withNewer(commandList, arrived), problem: null }))
      .catch((error: unknown) => {
        if (!ending.signal.aborted) setState(({ value }) => ({ value, problem: problemText(error) }));
      });
    return () => {
      stop();
      ending.abort();
      clearTimeout(timer);
    };
  }, [filter?.miner, filter?.actor, filter?.since, filter === null, turn, reconnects]);
  const reload = useCallback(() => setTurn((last) => last + 1), []);
  return { ...state, reload };
}
