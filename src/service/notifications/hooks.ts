import { hash } from "node:crypto";
import type { Config } from "../../config/schema.ts";

/** An incoming web hook. */
export interface IncomingHook {
  readonly name: string;
  /** Its JSON, or its text. */
  readonly payload: unknown;
}

/** Incoming web hooks; the HTTP server checks their secret. */
export class Hooks {
  readonly #file: Pick<Config, "hooks">;
  readonly #listeners = new Set<(hook: IncomingHook) => void>();

  constructor(file: Pick<Config, "hooks">) {
    this.#file = file;
  }

  get names(): ReadonlySet<string> {
    return new Set(this.#file.hooks.map(({ name }) => name));
  }

  /** SHA-256 of the hook's secret, in hex. */
  digestOf(name: string): string | undefined {
    const secret = this.#file.hooks.find((each) => each.name === name)?.secret;
    return secret === undefined ? undefined : hash("sha256", secret, "hex");
  }

  /** Throws `input.invalid` for a payload that one of its listeners refuses, after all have had it. */
  receive(name: string, payload: unknown): void {
    const refusals: unknown[] = [];
    for (const listener of this.#listeners) {
      try {
        listener({ name, payload });
      } catch (error) {
        refusals.push(error);
      }
    }
    if (refusals.length > 0) throw refusals[0];
  }

  /** Call the returned function to stop. */
  watchHooks(listener: (hook: IncomingHook) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
