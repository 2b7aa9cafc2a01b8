/** Logs the same text at most once per interval; the next time with the number of suppressed repeats. */
export function throttledLog(
  log: (text: string) => void,
  intervalMs: number,
  now: () => number,
): (text: string) => void {
  const logged = new Map<string, { at: number; suppressed: number }>();
  return (text) => {
    const before = logged.get(text);
    if (before !== undefined && now() - before.at < intervalMs) {
      before.suppressed += 1;
      return;
    }
    for (const [old, { at }] of logged) if (now() - at >= intervalMs) logged.delete(old);
    logged.set(text, { at: now(), suppressed: 0 });
    log(before === undefined || before.suppressed === 0 ? text : `${text} (+${before.suppressed})`);
  };
}
