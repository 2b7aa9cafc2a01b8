import type { ComponentChild, ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { usePreparing } from "./ready.ts";

/**
 * Shows its children one after another, each after the last one is painted, so that a slow phone shows the first ones
 * soon and handles taps in between. For vertical lists: visible content does not move.
 */
export function OneByOne({ children }: { children: readonly ComponentChild[] }) {
  const [shown, setShown] = useState(1);
  useAfterPaint(
    children.findIndex((child, index) => index >= shown && child !== null),
    setShown,
  );
  // Each child keeps its index as its key.
  return <>{children.map((child, index) => (index < shown ? child : null))}</>;
}

/** A separate function, so that it keeps no earlier children. `next`: the first hidden child; -1 if all are visible. */
function useAfterPaint(next: number, show: (count: number) => void): void {
  usePreparing(next >= 0);
  useEffect(() => {
    if (next < 0) return undefined;
    const timer = setTimeout(() => show(next + 1));
    return () => clearTimeout(timer);
  }, [next]);
}

/** Shows its children once the surrounding content is painted. */
export const Later = ({ children }: { children: ComponentChildren }) => <OneByOne>{[null, children]}</OneByOne>;
