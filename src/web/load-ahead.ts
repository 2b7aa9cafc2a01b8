import { withHints } from "./hints.ts";
import type { PageEntry } from "./pages/index.ts";

/** ms after the first figures: a phone on a slow network is still busy with them for a while. */
const restMs = 20_000;

/** Resolves when the browser is idle; where it does not report that, a little later. */
const whenIdle = (): Promise<void> =>
  new Promise((resolve) => {
    if ("requestIdleCallback" in window) requestIdleCallback(() => resolve(), { timeout: 10_000 });
    else setTimeout(resolve, 200);
  });

/**
 * Loads the files of these pages one after another, so that each opens at once, even while the service is offline. Ends
 * at the first failure, because the browser would keep each one.
 */
export async function loadAhead(pages: readonly Pick<PageEntry, "load">[]): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, restMs));
  try {
    for (const { load } of pages) {
      await whenIdle();
      await load();
    }
    await whenIdle();
    await withHints(import("virtual:schemas"));
  } catch {
    // Opening the page reports the failure.
  }
}
