/** The URLs in a text: one, or several separated by commas. */
export const urlsIn = (text: string): string[] =>
  text
    .split(",")
    .map((url) => url.trim())
    .filter((url) => url !== "");
