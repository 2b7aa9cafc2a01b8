import type { HAP } from "homebridge";
import { type ProblemCode, RigbridgeError } from "rigbridge";

/** HAP status codes (HomeKit Accessory Protocol specification, table 6-11); their enum has no value to import. */
type HapStatus = ConstructorParameters<HAP["HapStatusError"]>[0];

/** "No Response". */
export const unreachable: HapStatus = -70402;

/** Of those that mean something else than that the rig could not be spoken to. */
const statuses: Partial<Record<ProblemCode, HapStatus>> = {
  "user.forbidden": -70401,
  "rig.read-only": -70401,
  "rig.busy": -70403,
  "too.many": -70403,
  "rig.timeout": -70408,
  "rig.unconfirmed": -70408,
  "not.found": -70409,
  "input.invalid": -70410,
  "not.possible": -70412,
  "not.yet": -70412,
  "service.unsupported": -70412,
  "control.absent": -70412,
};

/** What HomeKit is told of a failure, and what is said to people. */
export function hapError(error: unknown): { readonly status: HapStatus; readonly message: string } {
  if (!(error instanceof RigbridgeError)) return { status: unreachable, message: String(error) };
  return { status: statuses[error.code] ?? unreachable, message: error.message };
}
