import type { ComponentChild, ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

/**
 * Shows its children one after another, each after the last one is painted, so that a slow phone shows the first ones
 * soon and handles taps between them. For what stands below one another: nothing that is shown moves.
 */
export function OneByOne({ children }: { children: readonly ComponentChild[] }) {
  const [shown, setShown] = useState(1);
  useAfterPaint(
    children.findIndex((child, index) => index >= shown && child !== null),
    setShown,
  );
  // Each keeps its place among them, by which it is known.
  return <>{children.map((child, index) => (index < shown ? child : null))}</>;
}

/** By itself, so that it keeps no children of before. `next`: the first that is not shown yet; -1 if all are. */
function useAfterPaint(next: number, show: (count: number) => void): void {
  useEffect(() => {
    if (next < 0) return undefined;
    const timer = setTimeout(() => show(next + 1));
    return () => clearTimeout(timer);
  }, [next]);
}

/** Shows its children once all that is around them is painted. */
export const Later = ({ children }: { children: ComponentChildren }) => <OneByOne>{[null, children]}</OneByOne>;
