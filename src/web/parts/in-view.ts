import { useLayoutEffect, useRef } from "preact/hooks";

/**
 * Scrolls a row of links, sideways only, so that the current one is in view. `key` changes with it. An
 * observer gets the position after the next layout; reading it here would force a layout in the middle of rendering.
 */
export function useCurrentInView<T extends HTMLElement>(key: string) {
  const row = useRef<T>(null);
  useLayoutEffect(() => {
    const current = row.current?.querySelector("[aria-current]");
    if (row.current === null || current === null || current === undefined) return undefined;
    const observer = new IntersectionObserver(
      ([entry]) => {
        observer.disconnect();
        if (entry?.rootBounds == null) return;
        const { boundingClientRect: inside, rootBounds: around } = entry;
        if (inside.left >= around.left && inside.right <= around.right) return;
        row.current?.scrollBy({ left: (inside.left + inside.right - around.left - around.right) / 2 });
      },
      { root: row.current },
    );
    observer.observe(current);
    return () => observer.disconnect();
  }, [key]);
  return row;
}
