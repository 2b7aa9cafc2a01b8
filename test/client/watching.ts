import type { ServiceEvent } from "../../src/contract/events.ts";
import type { Caller, MiningService } from "../../src/contract/service.ts";
import { within } from "../until.ts";

export interface Watching {
  /** The next event that is this; those before it are dropped. `awaited` as for the other `until`. */
  until<E extends ServiceEvent>(wanted: (event: ServiceEvent) => event is E, awaited: string): Promise<E>;
  /** The next event. */
  next(): Promise<ServiceEvent>;
  /** Aborts, and waits for the end; rejects as the stream did. */
  end(): Promise<void>;
}

export const isType =
  <T extends ServiceEvent["type"]>(type: T) =>
  (event: ServiceEvent): event is Extract<ServiceEvent, { type: T }> =>
    event.type === type;

export function watching(service: MiningService, caller: Caller, after?: number): Watching {
  const over = new AbortController();
  const events = service.watchEvents(after === undefined ? {} : { after }, caller, over.signal)[Symbol.asyncIterator]();
  const next = async (): Promise<ServiceEvent> => {
    const { value, done } = await events.next();
    if (done === true) throw new Error("the watch has ended");
    return value;
  };
  return {
    next: () => within(next(), "the next event"),
    until: (wanted, awaited) => {
      const dropped: string[] = [];
      const first = async () => {
        for (;;) {
          const event = await next();
          if (wanted(event)) return event;
          dropped.push(event.type);
        }
      };
      return within(first(), awaited, { details: () => `${dropped.length} other events came: ${dropped.join(", ")}` });
    },
    end: async () => {
      over.abort();
      await within(events.next(), "the watch to end");
    },
  };
}
