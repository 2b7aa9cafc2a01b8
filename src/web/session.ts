import { signal } from "@preact/signals";
import type { CallName, StreamName } from "../contract/service.ts";
import type { Session } from "../contract/session.ts";
import { Problem, request } from "./api.ts";

/** Null: sign in first; undefined: not loaded yet. */
export const session = signal<Session | null | undefined>(undefined);

/** Stored in the browser, because only the service can end a session, and may be offline at sign-out. */
const storageKey = "rigbridge.leaving";
/** The user has signed out, and the service has not confirmed it yet. */
export const isLeaving = signal(localStorage.getItem(storageKey) !== null);
/** Whether a user was signed in since this page was opened: much of the page may still hold that user's data. */
let wasSignedIn = false;

/** Loads the session. Throws a `Problem` unless the answer is that a key is needed. */
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

/** Empties the page; `endSession` does the rest. */
export function signOut(): void {
  localStorage.setItem(storageKey, "yes");
  isLeaving.value = true;
}

/** Ends the session, then starts over with an empty page. Throws a `Problem` if the service does not do it. */
export async function endSession(signal: AbortSignal): Promise<void> {
  try {
    await request("DELETE", "api/session", undefined, { signal });
  } catch (error) {
    // The session no longer exists.
    if (!(error instanceof Problem) || error.status !== 401) throw error;
  }
  localStorage.removeItem(storageKey);
  location.reload();
}

/** Whether this user may call an operation, and the service has it. Hide what the user may not do. */
export const may = (operation: CallName | StreamName): boolean =>
  session.value?.operations.includes(operation) ?? false;

export const currency = (): string | null => session.value?.display.currency ?? null;
