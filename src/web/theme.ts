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
  // The browser's own bars, in the order of index.html.
  const bars = document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]');
  for (const [index, scheme] of (["light", "dark"] as const).entries()) {
    const chosen = theme.value === scheme ? "all" : "not all";
    bars[index]?.setAttribute("media", theme.value === "auto" ? `(prefers-color-scheme: ${scheme})` : chosen);
  }
}

export function chooseTheme(chosen: Theme): void {
  theme.value = chosen;
  localStorage.setItem(storageKey, chosen);
  applyTheme();
}
