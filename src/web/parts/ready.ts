import { useLayoutEffect } from "preact/hooks";

let unfinished = 0;

/**
 * While `isPreparing`, the page is not ready: it is loading, or shows its parts one after another. A ready page has
 * `data-ready` on its root element, for which tests and screenshots wait.
 */
export function usePreparing(isPreparing: boolean): void {
  useLayoutEffect(() => {
    if (isPreparing) return begin();
    mark();
    return undefined;
  }, [isPreparing]);
}

function begin(): () => void {
  unfinished += 1;
  mark();
  return () => {
    unfinished -= 1;
    mark();
  };
}

const mark = (): void => void document.documentElement.toggleAttribute("data-ready", unfinished === 0);
