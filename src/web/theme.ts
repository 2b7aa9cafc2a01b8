import { signal } from "@preact/signals";

export const themes = ["auto", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

const storageKey = "rigbridge.theme";
const isTheme = (text: string | null): text is Theme => themes.some((theme) => theme === text);

const stored = localStorage.getItem(storageKey);
/** `auto` follows the system. */
export const theme = signal<Theme>(isTheme(stored) ? stored : "auto");

export function applyTheme(): void {
  const { dataset } = document.documentElement;
  if (theme.value === "auto") delete dataset.theme;
  else dataset.theme = theme.value;
}

export function chooseTheme(chosen: Theme): void {
  theme.value = chosen;
  localStorage.setItem(storageKey, chosen);
  applyTheme();
}
