import type { Node } from "node-red";
import { type Say, spoken } from "../shared/faults.ts";
import type { NodeStatus } from "../shared/node-status.ts";

interface ShownOptions {
  readonly node: Node;
  readonly status: NodeStatus;
  readonly say: Say;
}

/** What a node without an input shows: the mistake in its choice as long as there is one, else its last words. */
export class Shown {
  readonly #options: ShownOptions;
  #words: string | null = null;
  #mistake: string | null = null;

  constructor(options: ShownOptions) {
    this.#options = options;
  }

  words(text: string): void {
    this.#words = text;
    if (this.#mistake === null) this.#options.status.done(text);
  }

  /** null: there is none, or none any more. Each reaches Catch once, until it is another. */
  mistake(error: unknown): void {
    const { node, status, say } = this.#options;
    const before = this.#mistake;
    if (error === null) {
      this.#mistake = null;
      if (before !== null) status.done(this.#words ?? say("status.connected"));
      return;
    }
    const failure = spoken(error, say);
    this.#mistake = failure.message;
    if (failure.message === before) return;
    status.failed(failure.message);
    node.error(failure, {});
  }
}
