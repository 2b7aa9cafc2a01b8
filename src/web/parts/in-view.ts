import { useLayoutEffect, useRef } from "preact/hooks";

/** Scrolls a row of links, sideways only, so that the current one is in view. `key` changes with it. */
export function useCurrentInView<T extends HTMLElement>(key: string) {
  const row = useRef<T>(null);
  useLayoutEffect(() => {
    const current = row.current?.querySelector("[aria-current]");
    if (row.current === null || current === null || current === undefined) return;
    const [around, inside] = [row.current.getBoundingClientRect(), current.getBoundingClientRect()];
    if (inside.left >= around.left && inside.right <= around.right) return;
    row.current.scrollBy({ left: (inside.left + inside.right - around.left - around.right) / 2 });
  }, [key]);
  return row;
}
