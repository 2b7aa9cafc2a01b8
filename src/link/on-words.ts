const words: Readonly<Record<string, boolean>> = { on: true, true: true, 1: true, off: false, false: false, 0: false };

/** Whether a value says on: true, 1, "on", and their opposites; null for anything else. */
export function onIn(value: unknown): boolean | null {
  if (typeof value !== "string" && typeof value !== "boolean" && typeof value !== "number") return null;
  const word = String(value).trim().toLowerCase();
  return Object.hasOwn(words, word) ? (words[word] ?? null) : null;
}
