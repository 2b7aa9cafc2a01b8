import { RigbridgeError } from "../contract/problems.ts";
import type { Caller } from "../contract/service.ts";
import type { RequestKey } from "../store/index.ts";

/** The key of a caller's request. Keys of different users are different; callers with the service's own key are one. */
export const requestKeyOf = ({ userId, idempotency }: Caller): RequestKey | undefined =>
  idempotency === undefined
    ? undefined
    : { caller: userId === undefined ? "service" : `user ${userId}`, key: idempotency.key };

/** For a key that was used for another request. */
export const keyReused = (): RigbridgeError =>
  new RigbridgeError(
    "idempotency.reused",
    "This Idempotency-Key was used for another request within 24 h; use a new key for each request",
  );
