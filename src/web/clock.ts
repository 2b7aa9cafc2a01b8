import { signal } from "@preact/signals";

/** Epoch ms, moved every second while the page is visible: ages on the page follow it. */
export const now = signal(Date.now());

/** Updates `now`; at once when the page becomes visible again. */
export function startClock(): void {
  const move = (): void => {
    now.value = Date.now();
  };
  setInterval(() => {
    if (document.visibilityState === "visible") move();
  }, 1000);
  document.addEventListener("visibilitychange", move);
}
