/** How far the list was scrolled when it was left, px, and the rig whose page was open last: the way back leads there. */
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

/** Where a rig is in the list, and how much of the list is visible; px. */
interface Spot {
  /** null: it is not listed. */
  readonly start: number | null;
  readonly size: number;
  readonly visible: number;
}

/** How far to scroll a list that appears: as far as before, or to the rig that was open if that does not show it. */
export function topAgain(search: string, { start, size, visible }: Spot): number {
  const top = left?.search === search ? left.top : 0;
  if (start === null || (start >= top && start + size <= top + visible)) return top;
  return Math.max(0, start - (visible - size) / 2);
}
