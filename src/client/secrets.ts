/** Removes the key from texts, both in plain form and as encoded in a URL. */
export function withoutKey(key: string | undefined): (text: string) => string {
  if (key === undefined || key === "") return (text) => text;
  const forms = [key, encodeURIComponent(key), new URLSearchParams({ key }).toString().slice("key=".length)];
  const longestFirst = [...new Set(forms)].toSorted((a, b) => b.length - a.length);
  return (text) => longestFirst.reduce((rest, form) => rest.replaceAll(form, "***"), text);
}

/** A foreign text as one short line, without control characters, line ends and direction marks. */
export function oneLine(text: string, longest = 200): string {
  const line = text
    .slice(0, longest * 4)
    .replace(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\s]+/gu, " ")
    .toWellFormed()
    .trim();
  return line.length > longest ? `${line.slice(0, longest).toWellFormed()}…` : line;
}
