import type { Notification } from "../src/contract/resources.ts";
import type { NewNotification } from "../src/store/index.ts";

/** A notification to be stored: an info about nothing, unless the test says otherwise. */
export const newNotification = (over: Partial<NewNotification> = {}): NewNotification => ({
  key: null,
  minerId: null,
  uid: null,
  minerName: "",
  title: null,
  source: "System",
  message: "",
  coded: { title: null, message: null },
  severity: "info",
  ...over,
});

/** What the API adds to the documented fields. */
export const addedFields: Pick<
  Notification,
  "uid" | "severity" | "count" | "lastUtc" | "closedUtc" | "ruleId" | "coded"
> = {
  uid: null,
  severity: "info",
  count: 1,
  lastUtc: "2026-01-31T12:00:00.000Z",
  closedUtc: null,
  ruleId: null,
  coded: { title: null, message: null },
};
