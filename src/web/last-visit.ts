/** A pause of this many ms ends a visit. */
const pauseMs = 30 * 60_000;
const markMs = 60_000;
const lastKey = "rigbridge.visit";
/** Limited to this tab, so that a reload continues the visit. */
const sinceKey = "rigbridge.since";

/** When the last visit ended, epoch ms; null for the first visit, or if it was only interrupted. */
export const lastVisit = begin(Date.now());

function begin(now: number): number | null {
  const last = Number(localStorage.getItem(lastKey)) || null;
  mark();
  setInterval(mark, markMs);
  document.addEventListener("visibilitychange", mark);
  if (last === null || last > now) return null;
  if (now - last >= pauseMs) sessionStorage.setItem(sinceKey, String(last));
  return Number(sessionStorage.getItem(sinceKey)) || null;
}

/** A page in the background does not count as visited. */
function mark(): void {
  if (document.visibilityState === "visible") localStorage.setItem(lastKey, String(Date.now()));
}
