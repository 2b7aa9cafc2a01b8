import { useEffect, useRef } from "preact/hooks";

/** Up to this many rigs, a page receives every change of each: such a list changes little, whatever part is visible. */
export const mostFollowed = 200;
/** Rows around the visible ones that are followed as well, so that short scrolling needs no request. */
const around = 40;
/** Maximum ids that the service accepts. */
const mostIds = 300;
/** ms without scrolling before a request. */
const settleMs = 400;

interface Shown {
  readonly visible: readonly number[];
  /** The visible rows and those around them. */
  readonly near: readonly number[];
}

/** The rows that the parts of the page show. */
const parts = new Map<object, Shown>();
let followed: ReadonlySet<number> = new Set();
let missed: () => void = () => undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

/** The ids of the visible rigs and those around them, which are followed from now on. */
export function idsToFollow(): readonly number[] {
  clearTimeout(timer);
  timer = undefined;
  const all = [...parts.values()];
  // Visible rigs first, because the service accepts a limited number.
  const wanted = new Set([...all.flatMap(({ visible }) => visible), ...all.flatMap(({ near }) => near)]);
  followed = new Set([...wanted].slice(0, mostIds));
  return [...followed];
}

/** Calls the listener when rigs become visible that are not followed. */
export function onUnfollowed(listener: () => void): void {
  missed = listener;
}

/** A part of the page shows these rows now. */
export function show(part: object, shown: Shown): void {
  parts.set(part, shown);
  if (shown.visible.every((id) => followed.has(id))) return;
  clearTimeout(timer);
  timer = setTimeout(missed, settleMs);
}

/** Reports the visible rows of a list, from one index to another. */
export function useShownRows(rows: readonly { readonly id: number }[], first: number, last: number): void {
  const { current: part } = useRef({});
  const ids = (from: number, to: number): number[] => rows.slice(Math.max(0, from), to + 1).map(({ id }) => id);
  useEffect(() =>
    show(part, { visible: ids(first, last).slice(0, mostIds), near: ids(first - around, last + around) }),
  );
  useEffect(() => () => void parts.delete(part), []);
}
