import { type ProblemCode, RigbridgeError } from "rigbridge";

/** Of the errors in `api.matter.status`. */
export type MatterStatus =
  | "Busy"
  | "Timeout"
  | "ConstraintError"
  | "InvalidInState"
  | "PermissionDenied"
  | "NotFound"
  | "Failure";

/** Of those that mean something else than that it failed. */
const statuses: Partial<Record<ProblemCode, MatterStatus>> = {
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
  "service.unsupported": "InvalidInState",
  "control.absent": "InvalidInState",
};

/** What a controller is told of a failure, and what is said to people. */
export function matterError(error: unknown): { readonly status: MatterStatus; readonly message: string } {
  if (!(error instanceof RigbridgeError)) return { status: "Failure", message: String(error) };
  return { status: statuses[error.code] ?? "Failure", message: error.message };
}
