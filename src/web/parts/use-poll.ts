import { useEffect, useRef } from "preact/hooks";
import type { Loaded } from "./load.tsx";

/** ms that an answer may take before it is asked for again, as for every request. */
const slowestMs = 30_000;

/** Reads again every `ms` while the page is visible; null: not at all. A slow answer is waited for. */
export function usePoll<T>({ value, problem, reload }: Loaded<T>, ms: number | null): void {
  const asked = useRef<number | null>(null);
  useEffect(() => {
    asked.current = null;
  }, [value, problem]);
  useEffect(() => {
    if (ms === null) return undefined;
    const timer = setInterval(() => {
      const isPending = asked.current !== null && performance.now() - asked.current < slowestMs;
      if (isPending || document.visibilityState !== "visible") return;
      asked.current = performance.now();
      reload();
    }, ms);
    return () => clearInterval(timer);
  }, [reload, ms]);
}
