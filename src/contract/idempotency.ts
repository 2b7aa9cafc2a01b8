/**
 * The header with which a client may repeat a write whose answer it did not get, as in the draft of the IETF's HTTPAPI
 * working group (draft-ietf-httpapi-idempotency-key-header).
 */
export const idempotencyHeader = "Idempotency-Key";

/** `true` in an answer that is the one to an earlier request with the same key. */
export const replayedHeader = "Idempotency-Replayed";

/** The key of a write: the same request with the same key by the same user is done once, and answered alike again. */
export interface Idempotency {
  /** 1 to 255 visible ASCII characters. */
  readonly key: string;
  /** Called by the service in this process if the reply, or the error, is the one to an earlier request. */
  readonly replayed?: () => void;
}

/** The key in the value of the header, which may be quoted; undefined if there is none. */
export const idempotencyKeyIn = (value: string): string | undefined =>
  /^(?:"(?<quoted>[!#-~]{1,255})"|(?<bare>[!#-~][!-~]{0,254}))$/.exec(value)?.slice(1).find(Boolean);

export const keyWording = "must be 1 to 255 visible ASCII characters without spaces";

/** Browsers have `crypto.randomUUID` in secure contexts only. */
export const newIdempotencyKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
