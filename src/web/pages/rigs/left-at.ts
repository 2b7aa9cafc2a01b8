/** The scroll position of the list when it was left, px, and the last opened rig, for the way back. */
let left: { readonly search: string; readonly top: number } | null = null;
let opened: number | null = null;

/** `search`: the query of the list. */
export function leaveAt(search: string, top: number): void {
  left = { search, top };
}

export function markOpened(id: number): void {
  opened = id;
}

export const lastOpened = (): number | null => opened;

/** Where a rig is in the list, and the height of the visible part; px. */
interface Spot {
  /** Null: not listed. */
  readonly start: number | null;
  readonly size: number;
  readonly visible: number;
}

/**
 * The scroll position for a list that appears: the previous one, or that of the opened rig if it would not be visible.
 */
export function topAgain(search: string, { start, size, visible }: Spot): number {
  const top = left?.search === search ? left.top : 0;
  if (start === null || (start >= top && start + size <= top + visible)) return top;
  return Math.max(0, start - (visible - size) / 2);
}
