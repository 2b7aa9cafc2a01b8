import { RigbridgeError } from "rigbridge";
import type { Asked } from "../shared/farm-connection.ts";
import { Fault } from "../shared/faults.ts";

export interface Acknowledged {
  readonly done: ReadonlySet<number>;
  /** To be tried again: the service went away in between. */
  readonly left: readonly number[];
  /** Why the service does not do it; then none of them is tried again. */
  readonly refusal: Fault | null;
}

/** Acknowledges one notification after the other; one that is gone needs it no more. */
export async function acknowledge(
  { service, caller, farm }: Asked,
  ids: readonly number[],
  signal: AbortSignal,
): Promise<Acknowledged> {
  const done = new Set<number>();
  if (ids.length > 0 && !farm.features.has("notificationAction"))
    return { done, left: [], refusal: refused("service.unsupported", "=hindrance.unsupported") };
  for (const [index, id] of ids.entries()) {
    if (signal.aborted) return { done, left: ids.slice(index), refusal: null };
    try {
      await service.notificationAction({ id, action: "ack" }, caller);
      done.add(id);
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      if (isAway(error)) return { done, left: ids.slice(index), refusal: null };
      if (error.code !== "not.found") return { done, left: [], refusal: refused(error.code, error.message, error) };
    }
  }
  return { done, left: [], refusal: null };
}

/** What the connection says itself, and tries again. */
export const isAway = ({ code }: RigbridgeError): boolean =>
  code === "service.unreachable" || code === "service.not-ready";

const refused = (code: RigbridgeError["code"], why: string, cause?: RigbridgeError): Fault =>
  new Fault(code, "cannot-acknowledge", { why }, { cause });
