import { signal } from "@preact/signals";

function follow(query: string) {
  const media = matchMedia(query);
  const matches = signal(media.matches);
  media.addEventListener("change", (event) => {
    matches.value = event.matches;
  });
  return matches;
}

/** Whether the page is as narrow as on a phone. */
export const isNarrow = follow("(max-width: 40rem)");
/** Whether the menu is a bar below the page; style/shell.css has the same width. */
export const hasBar = follow("(max-width: 60rem)");
