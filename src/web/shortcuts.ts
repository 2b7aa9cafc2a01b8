import { signal } from "@preact/signals";

const storageKey = "rigbridge.shortcuts";

/** Whether single letters act, such as j for the next rig; speech input may type them unintentionally. */
export const shortcuts = signal(localStorage.getItem(storageKey) !== "off");

export function allowShortcuts(allowed: boolean): void {
  shortcuts.value = allowed;
  localStorage.setItem(storageKey, allowed ? "on" : "off");
}
