import { signal } from "@preact/signals";
import type { CallName, StreamName } from "../contract/service.ts";
import type { Session } from "../contract/session.ts";
import { Problem, request } from "./api.ts";

/** null: sign in first; undefined: not asked yet. */
export const session = signal<Session | null | undefined>(undefined);

/** Asks who this is. Throws a `Problem` unless the answer is that a key is needed. */
export async function loadSession(): Promise<void> {
  try {
    session.value = (await (await request("GET", "api/session")).json()) as Session;
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 401) throw error;
    session.value = null;
  }
}

/** Throws a `Problem` if the key is wrong. */
export async function signIn(key: string): Promise<void> {
  await request("POST", "api/session", { key });
  await loadSession();
}

export async function signOut(): Promise<void> {
  await request("DELETE", "api/session");
  session.value = null;
}

/** Whether this user may call an operation, and the service has it. What a user may not do is not on the page. */
export const may = (operation: CallName | StreamName): boolean =>
  session.value?.operations.includes(operation) ?? false;

export const currency = (): string | null => session.value?.display.currency ?? null;
