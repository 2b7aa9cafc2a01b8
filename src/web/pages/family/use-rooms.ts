import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Room } from "../../../contract/resources.ts";
import { call } from "../../api.ts";
import { onEvent } from "../../live.ts";
import { problemText } from "../../parts/messages.tsx";
import { may } from "../../session.ts";

export interface Rooms {
  /** Undefined while loading. */
  readonly list: readonly Room[] | undefined;
  readonly problem: string | null;
  /** Replaces a room after a change. */
  readonly replace: (room: Room) => void;
}

/** ms between two reads: rigs of a room report one after the other. */
const restMs = 1_500;
/** ms between reads of today's figures, which change without events. */
const slowMs = 30_000;

/** The rooms, reloaded when one of their rigs changes. */
export function useRooms(): Rooms {
  const [state, setState] = useState<Pick<Rooms, "list" | "problem">>({ list: undefined, problem: null });
  const miners = useRef<ReadonlySet<number>>(new Set());
  miners.current = new Set(state.list?.flatMap((room) => room.miners));
  useEffect(() => {
    if (!may("listRooms")) {
      setState({ list: [], problem: null });
      return undefined;
    }
    const ending = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = async () => {
      clearTimeout(timer);
      timer = undefined;
      try {
        setState({ list: await call("listRooms", {}, { signal: ending.signal }), problem: null });
      } catch (error) {
        if (ending.signal.aborted) return;
        setState(({ list }) => ({ list, problem: problemText(error) }));
      }
      timer ??= setTimeout(read, slowMs);
    };
    let soon: ReturnType<typeof setTimeout> | undefined;
    const stop = onEvent(({ type, data }) => {
      const id = rigOf(type, data);
      if (id === null || !miners.current.has(id) || soon !== undefined) return;
      soon = setTimeout(() => {
        soon = undefined;
        void read();
      }, restMs);
    });
    void read();
    return () => {
      stop();
      ending.abort();
      clearTimeout(timer);
      clearTimeout(soon);
    };
  }, []);
  const replace = useCallback((room: Room) => {
    setState(({ list, problem }) => ({ list: list?.map((each) => (each.key === room.key ? room : each)), problem }));
  }, []);
  return { ...state, replace };
}

/** The rig of an event. */
function rigOf(type: string, data: unknown): number | null {
  const field = type === "miner" ? "id" : type === "command" ? "minerId" : null;
  if (field === null || typeof data !== "object" || data === null) return null;
  const id = new Map<string, unknown>(Object.entries(data)).get(field);
  return typeof id === "number" ? id : null;
}
