import type { HAP } from "homebridge";
import { type ProblemCode, RigbridgeError } from "rigbridge";

/** HAP status codes (HomeKit Accessory Protocol specification, table 6-11); HAP's enum has no value to import. */
type HapStatus = ConstructorParameters<HAP["HapStatusError"]>[0];

/** What each error of `api.matter.status` is in HomeKit. */
export const hapStatuses = {
  PermissionDenied: -70401,
  /** "No Response". */
  Failure: -70402,
  Busy: -70403,
  Timeout: -70408,
  NotFound: -70409,
  ConstraintError: -70410,
  InvalidInState: -70412,
} as const satisfies Record<string, HapStatus>;

/** Problems that are more than a failure to reach the rig. */
const statuses: Partial<Record<ProblemCode, keyof typeof hapStatuses>> = {
  "user.forbidden": "PermissionDenied",
  "rig.read-only": "PermissionDenied",
  "rig.busy": "Busy",
  "too.many": "Busy",
  "rig.timeout": "Timeout",
  "rig.unconfirmed": "Timeout",
  "not.found": "NotFound",
  "input.invalid": "ConstraintError",
  "not.possible": "InvalidInState",
  "not.yet": "InvalidInState",
  "nothing.to.do": "InvalidInState",
  "service.unsupported": "InvalidInState",
  "control.absent": "InvalidInState",
};

/** The status for controllers and the message for the log. */
export function failureOf(error: unknown): { readonly status: keyof typeof hapStatuses; readonly message: string } {
  if (!(error instanceof RigbridgeError)) return { status: "Failure", message: String(error) };
  return { status: statuses[error.code] ?? "Failure", message: error.message };
}
