import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

const focusable = "button:not(:disabled), input:not(:disabled), select:not(:disabled)";

/** Restores the focus after a command: browsers take it from elements that are disabled while the command runs. */
export function useFocusBack(place: RefObject<HTMLElement | null>, isBusy: boolean): void {
  const before = useRef<HTMLElement | null>(null);
  useLayoutEffect(() => {
    const element = place.current;
    const { activeElement } = document;
    if (isBusy)
      before.current = activeElement instanceof HTMLElement && element?.contains(activeElement) ? activeElement : null;
    else if (before.current !== null && activeElement === document.body) {
      const isThere = before.current.isConnected;
      (isThere ? before.current : element?.querySelector<HTMLElement>(focusable))?.focus({ preventScroll: true });
    }
  }, [isBusy]);
}
