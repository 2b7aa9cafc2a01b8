import { hash } from "node:crypto";
import type { HookSettings } from "../../config/channels.ts";

/** An incoming web hook. */
export interface IncomingHook {
  readonly name: string;
  /** Its JSON, or its text. */
  readonly payload: unknown;
}

/** Incoming web hooks; the HTTP server checks their secret. */
export class Hooks {
  readonly #digests: ReadonlyMap<string, string>;
  readonly #listeners = new Set<(hook: IncomingHook) => void>();

  constructor(settings: readonly HookSettings[]) {
    this.#digests = new Map(settings.map(({ name, secret }) => [name, hash("sha256", secret, "hex")]));
  }

  /** SHA-256 of the hook's secret, in hex. */
  digestOf(name: string): string | undefined {
    return this.#digests.get(name);
  }

  receive(name: string, payload: unknown): void {
    for (const listener of this.#listeners) listener({ name, payload });
  }

  /** Call the returned function to stop. */
  watchHooks(listener: (hook: IncomingHook) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
