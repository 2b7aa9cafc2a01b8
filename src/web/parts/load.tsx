import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { t } from "../language.ts";
import { connection, onEvent } from "../live.ts";
import { problemText } from "./messages.tsx";
import { Notice } from "./notice.tsx";
import { usePreparing } from "./ready.ts";

/** Data requested from the service. A failure keeps the previous value. */
export interface Loaded<T> {
  readonly value: T | undefined;
  readonly problem: string | null;
  readonly reload: () => void;
}

/** Loads when the component appears, and again when one of `keys` changes or `reload` is called. */
export function useLoaded<T>(ask: (signal: AbortSignal) => Promise<T>, keys: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, "reload">>({ value: undefined, problem: null });
  const [turn, setTurn] = useState(0);
  const asking = useRef(ask);
  asking.current = ask;
  useEffect(() => {
    const ending = new AbortController();
    asking
      .current(ending.signal)
      .then((value) => setState({ value, problem: null }))
      .catch((error: unknown) => {
        if (!ending.signal.aborted) setState(({ value }) => ({ value, problem: problemText(error) }));
      });
    return () => ending.abort();
  }, [turn, ...keys]);
  const reload = useCallback(() => setTurn((last) => last + 1), []);
  return { ...state, reload };
}

/**
 * Changes when the service answers again after a silence; among the keys of `useLoaded`, it makes a page catch up.
 * While the service is offline it stays the same: the shell reports that, and requests would only fail.
 */
export function useReconnects(): number {
  const { live, since } = connection.value;
  const last = useRef(since);
  if (live) last.current = since;
  return last.current;
}

/** ms after an event until the changed data is read, so that many events cause one read. */
const settleMs = 300;
/** Reads again after events of these types, every `restMs` at most, and when the service answers again after a silence. */
export function useReloadOn(types: readonly string[], reload: () => void, restMs = 1_000): void {
  const reconnects = useReconnects();
  const first = useRef(reconnects);
  useEffect(() => {
    if (reconnects === first.current) return;
    first.current = reconnects;
    reload();
  }, [reconnects]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let readAt = Number.NEGATIVE_INFINITY;
    const read = () => {
      timer = undefined;
      readAt = performance.now();
      reload();
    };
    const stop = onEvent(({ type }) => {
      if (types.includes(type)) timer ??= setTimeout(read, Math.max(settleMs, readAt + restMs - performance.now()));
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [types.join(), reload, restMs]);
}

const answered = Symbol("answered");

/**
 * Proves that the service has answered: only `Loading` and `Knowing` create it, so no page can say "none" before that.
 */
export interface Known {
  readonly [answered]: true;
}
const known: Known = { [answered]: true };

type Children<T> = (value: T, known: Known) => ComponentChildren;

/** Shows the loaded data, that it is loading, or why it could not be loaded. */
export function Loading<T>({ from, children }: { from: Loaded<T>; children: Children<T> }) {
  const { value, problem, reload } = from;
  if (value === undefined && problem !== null)
    return (
      <Notice icon="unplugged" title={t.shell.failed} text={problem}>
        <button type="button" class="button primary" onClick={reload}>
          {t.shell.again}
        </button>
      </Notice>
    );
  return (
    <>
      {problem === null ? null : (
        <p class="banner bad" role="status">
          {problem}
        </p>
      )}
      <Knowing value={value}>{children}</Knowing>
    </>
  );
}

/** Shows the service's answer, or that it is loading while it is undefined. */
export function Knowing<T>({ value, children }: { value: T | undefined; children: Children<T> }) {
  return value === undefined ? <Waiting /> : children(value, known);
}

export function Waiting() {
  usePreparing(true);
  return (
    <p class="loading" role="status">
      {t.shell.loading}
    </p>
  );
}
