import { SendDeadline } from "../../src/async/send-deadline.ts";
import type { ActingLease } from "../../src/contract/lease.ts";

/** The lease of an active service. */
export const someLease: ActingLease = {
  store: "0123456789abcdef0123456789abcdef",
  epoch: 3,
  secret: "of-both",
  since: 0,
  age: () => 0,
  mayAct: () => true,
  isLast: () => true,
  deadline: new SendDeadline(),
};
