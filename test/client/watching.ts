import type { ServiceEvent } from "../../src/contract/events.ts";
import type { Caller, MiningService } from "../../src/contract/service.ts";

export interface Watching {
  /** The next event that is this; those before it are dropped. */
  until<E extends ServiceEvent>(wanted: (event: ServiceEvent) => event is E): Promise<E>;
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
    next,
    until: async (wanted) => {
      for (;;) {
        const event = await next();
        if (wanted(event)) return event;
      }
    },
    end: async () => {
      over.abort();
      await events.next();
    },
  };
}
