import { createHash, randomBytes } from "node:crypto";

/** How long a confirmation is valid, ms. */
export const confirmationMs = 5 * 60_000;
/** The oldest are forgotten first: clients may ask for any number of them. */
const mostConfirmations = 1_000;

interface Pending {
  /** SHA-256 of what it confirms. */
  readonly subject: string;
  readonly expires: number;
}

/** Tokens that confirm one call: each works once, for the same subject, for some minutes. */
export class Confirmations {
  readonly #pending = new Map<string, Pending>();
  readonly #now: () => number;

  /** `now`: epoch ms. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** A token for this subject: the caller, the tool, its arguments and its rigs. */
  issue(subject: unknown): string {
    const token = randomBytes(18).toString("base64url");
    this.#pending.set(token, { subject: digestOf(subject), expires: this.#now() + confirmationMs });
    for (const [oldest, { expires }] of this.#pending) {
      if (this.#pending.size <= mostConfirmations && expires > this.#now()) break;
      this.#pending.delete(oldest);
    }
    return token;
  }

  /** Whether the token confirms this subject. It is used up unless it was issued for another subject. */
  take(token: string, subject: unknown): boolean {
    const pending = this.#pending.get(token);
    if (pending === undefined || pending.subject !== digestOf(subject)) return false;
    this.#pending.delete(token);
    return pending.expires > this.#now();
  }
}

const digestOf = (subject: unknown): string => createHash("sha256").update(JSON.stringify(subject)).digest("hex");
