import { signal } from "@preact/signals";
import type { CallName, StreamName } from "../contract/service.ts";
import type { Session } from "../contract/session.ts";
import { Problem, request } from "./api.ts";

/** null: sign in first; undefined: not asked yet. */
export const session = signal<Session | null | undefined>(undefined);

/** Kept by the browser, since only the service can end a session, and may be away when somebody signs out. */
const storageKey = "rigbridge.leaving";
/** Somebody has signed out, and the service has not confirmed it yet. */
export const isLeaving = signal(localStorage.getItem(storageKey) !== null);
/** Whether somebody was signed in since this page was opened: much of the page may still know what that user saw. */
let wasSignedIn = false;

/** Asks who this is. Throws a `Problem` unless the answer is that a key is needed. */
export async function loadSession(): Promise<void> {
  try {
    session.value = (await (await request("GET", "api/session")).json()) as Session;
    wasSignedIn = true;
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 401) throw error;
    session.value = null;
  }
}

/** Throws a `Problem` if the key is wrong. */
export async function signIn(key: string): Promise<void> {
  await request("POST", "api/session", { key });
  if (wasSignedIn) location.reload();
  else await loadSession();
}

/** From now on the page shows nothing; `endSession` does the rest. */
export function signOut(): void {
  localStorage.setItem(storageKey, "yes");
  isLeaving.value = true;
}

/** Ends the session, then begins with a page that knows nothing of it. Throws a `Problem` if the service does not do it. */
export async function endSession(signal: AbortSignal): Promise<void> {
  try {
    await request("DELETE", "api/session", undefined, { signal });
  } catch (error) {
    // There is no such session any more.
    if (!(error instanceof Problem) || error.status !== 401) throw error;
  }
  localStorage.removeItem(storageKey);
  location.reload();
}

/** Whether this user may call an operation, and the service has it. What a user may not do is not on the page. */
export const may = (operation: CallName | StreamName): boolean =>
  session.value?.operations.includes(operation) ?? false;

export const currency = (): string | null => session.value?.display.currency ?? null;
