import { computed } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Notification } from "../../contract/resources.ts";
import { markNotes, past, readAgain, received } from "../live.ts";
import { inOwnWords } from "../service-words.ts";

// `received` changes whenever `past.loaded` does.
const notifications = computed(() => {
  const list = received.value;
  return past.loaded ? list?.map(inOwnWords) : undefined;
});

/** All notifications, past ones too, newest first; undefined until loaded. */
export function useNotifications(): readonly Notification[] | undefined {
  useEffect(showPast, []);
  return notifications.value;
}

/** ms for which past notifications are kept for the next page that shows them, so that paging through rigs reads them once. */
const keptMs = 60_000;

/** Until a while after the function that it returns was called. */
function showPast(): () => void {
  past.shown += 1;
  if (past.shown === 1 && received.value !== undefined) readAgain();
  return () => setTimeout(drop, keptMs);
}

function drop(): void {
  past.shown -= 1;
  if (past.shown > 0) return;
  past.loaded = false;
  if (received.value !== undefined) markNotes();
}
