import { useEffect } from "preact/hooks";
import { onEvent } from "../live.ts";

/** ms after an event until the changed data is read. */
const settleMs = 1_200;
/** ms between two reads of data without events, such as the state of a host. */
const pollMs = 10_000;

/** Reads data without events again: after commands and notifications, and periodically while the page is visible. */
export function useFresh(...reloads: readonly (() => void)[]): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = () => {
      clearTimeout(timer);
      timer = undefined;
      for (const reload of reloads) reload();
    };
    const stop = onEvent(({ type }) => {
      if (type === "command" || type === "notification") timer ??= setTimeout(read, settleMs);
    });
    const poll = setInterval(() => {
      if (document.visibilityState === "visible") read();
    }, pollMs);
    return () => {
      stop();
      clearTimeout(timer);
      clearInterval(poll);
    };
  }, reloads);
}
