import { randomBytes } from "node:crypto";
import { keyDigest } from "./keys.ts";

/** ms */
const validMs = 600_000;

interface LoginCodesOptions {
  /** The service's own key, which may change. */
  readonly ownKey: () => string | undefined;
  /** Epoch ms. */
  readonly now: () => number;
}

/** Codes that open one session each for the owner of the service's key, instead of that key. */
export class LoginCodes {
  readonly #options: LoginCodesOptions;
  /** When each ends, by its digest. */
  readonly #ends = new Map<string, number>();

  constructor(options: LoginCodesOptions) {
    this.#options = options;
  }

  /** A new code, valid for 10 minutes; null if the service has no key. */
  issue(): string | null {
    const { ownKey, now } = this.#options;
    if (ownKey() === undefined) return null;
    for (const [digest, end] of this.#ends) if (end <= now()) this.#ends.delete(digest);
    const code = randomBytes(16).toString("base64url");
    this.#ends.set(keyDigest(code), now() + validMs);
    return code;
  }

  /** The service's key for a code, which is then used up; undefined for anything else. */
  redeem(code: string): string | undefined {
    const digest = keyDigest(code);
    const end = this.#ends.get(digest);
    this.#ends.delete(digest);
    const { ownKey, now } = this.#options;
    return end === undefined || now() >= end ? undefined : ownKey();
  }
}
