import { useEffect } from "preact/hooks";
import type { Command, MinerDetail } from "../../../contract/resources.ts";
import { call, Problem } from "../../api.ts";
import { isPending } from "../../commands.ts";
import { connection, onEvent } from "../../live.ts";
import { type Loaded, useLoaded, useReconnects } from "../../parts/load.tsx";
import { useShownRows } from "../../shown-rows.ts";

/** Minimum ms between two reads of a rig with frequent events. */
const intervalMs = 1_000;
/** ms after which a rig without events is read again: changes of its boards or fans alone cause no event. */
const refreshMs = 15_000;

/**
 * One rig as the service shows it, read again when it changes; null if it does not exist or is hidden from this user.
 */
export function useRig(id: number): Loaded<MinerDetail | null> {
  const loaded = useLoaded(
    (signal) =>
      call("getMiner", { id }, { signal }).catch((error: unknown) => {
        if (error instanceof Problem && error.status === 404) return null;
        throw error;
      }),
    [id, useReconnects()],
  );
  const { reload } = loaded;
  useShownRows([{ id }], 0, 0);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const soon = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        reload();
      }, intervalMs);
    };
    const stop = onEvent(({ type, data }) => {
      if (concerns(type, data, id)) soon();
    });
    const refresh = setInterval(() => {
      if (document.visibilityState === "visible" && connection.value.live) soon();
    }, refreshMs);
    return () => {
      stop();
      clearInterval(refresh);
      clearTimeout(timer);
    };
  }, [id, reload]);
  return loaded;
}

/** The shapes are those of the service's own contract. */
function concerns(type: string, data: unknown, id: number): boolean {
  if (type === "miner" || type === "miner-removed") return (data as { readonly id: number }).id === id;
  if (type !== "command") return false;
  const { minerId, state } = data as Command;
  return minerId === id && !isPending(state);
}
