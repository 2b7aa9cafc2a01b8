import { signal } from "@preact/signals";

/** Epoch ms, moved every second while the page is visible: ages on the page follow it. */
export const now = signal(Date.now());

setInterval(() => {
  if (document.visibilityState === "visible") now.value = Date.now();
}, 1000);
document.addEventListener("visibilitychange", () => {
  now.value = Date.now();
});
