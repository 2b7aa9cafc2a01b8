import { signal } from "@preact/signals";

const storageKey = "rigbridge.start";

/** Whether the first steps were dismissed in this browser. */
export const hasLeftSteps = signal(localStorage.getItem(storageKey) !== null);

export function leaveSteps(): void {
  hasLeftSteps.value = true;
  localStorage.setItem(storageKey, "left");
}
