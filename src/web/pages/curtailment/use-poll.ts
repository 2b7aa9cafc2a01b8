import { useEffect } from "preact/hooks";

/** Reads again every `ms` while the page is visible; null: not at all. */
export function usePoll(reload: () => void, ms: number | null): void {
  useEffect(() => {
    if (ms === null) return undefined;
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") reload();
    }, ms);
    return () => clearInterval(timer);
  }, [reload, ms]);
}
