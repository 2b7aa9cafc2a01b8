import { useEffect, useRef } from "preact/hooks";

/** Rigs up to which a page gets every change of each: a list of so many moves little, whatever of it is on the screen. */
export const mostFollowed = 200;
/** Rows before and after those on the screen that are followed like them, so that a short way down asks for nothing. */
const around = 40;
/** Ids that the service takes. */
const mostIds = 300;
/** ms for which the screen must have stood still. */
const settleMs = 400;

interface Shown {
  readonly visible: readonly number[];
  /** With those around them. */
  readonly near: readonly number[];
}

/** What the parts of the page show. */
const parts = new Map<object, Shown>();
let followed: ReadonlySet<number> = new Set();
let missed: () => void = () => undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

/** The ids of the rigs on the screen and around it, which are followed from now on. */
export function idsToFollow(): readonly number[] {
  clearTimeout(timer);
  timer = undefined;
  const all = [...parts.values()];
  // Those on the screen first, since the service takes only so many.
  followed = new Set([...all.flatMap(({ visible }) => visible), ...all.flatMap(({ near }) => near)].slice(0, mostIds));
  return [...followed];
}

/** Calls it when rigs come to the screen that are not followed. */
export function onUnfollowed(listener: () => void): void {
  missed = listener;
}

function show(part: object, shown: Shown): void {
  parts.set(part, shown);
  if (shown.visible.every((id) => followed.has(id))) return;
  clearTimeout(timer);
  timer = setTimeout(missed, settleMs);
}

/** Tells the service that these rows of a list are on the screen, from one place to another. */
export function useShownRows(rows: readonly { readonly id: number }[], first: number, last: number): void {
  const { current: part } = useRef({});
  const ids = (from: number, to: number): number[] => rows.slice(Math.max(0, from), to + 1).map(({ id }) => id);
  useEffect(() =>
    show(part, { visible: ids(first, last).slice(0, mostIds), near: ids(first - around, last + around) }),
  );
  useEffect(() => () => void parts.delete(part), []);
}
