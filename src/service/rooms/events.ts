import type { Core } from "../core.ts";
import type { EventView } from "../events/subscriber.ts";
import type { ServiceRoom } from "../room.ts";
import type { Miners } from "./miners.ts";

/** The streams of events. The last room, so that subscribers are the first to notice that the service ends. */
export function openEvents({ accessBook, events }: Core, { registry, rows, operations }: Miners) {
  const view: EventView = {
    accessOf: (caller) => accessBook.of(caller),
    sees: (minerId, access) => registry.visible(minerId, access) !== undefined,
    seesNotification: (about, access) => registry.presence.seesNotification(about, access),
    current: (minerId) => registry.display.jsonCache.current(minerId),
    row: rows.changedRow,
    summaryFor: (caller) => operations.getSummary({}, caller),
  };
  return {
    direct: {
      watchEvents: (input, caller, signal) => {
        accessBook.check("watchEvents", caller);
        return events.watch(view, input, caller, signal);
      },
      watchMinerRows: (input, caller, signal) => {
        accessBook.check("watchMinerRows", caller);
        return events.watchRows(view, input, caller, signal);
      },
      encodedEvents: (input, caller, signal) => {
        accessBook.check("view" in input ? "watchMinerRows" : "watchEvents", caller);
        return events.encoded(view, input, caller, signal);
      },
    },
    // A subscriber from before the restart has outdated data.
    start: () => events.reset(),
    close: () => events.close(),
  } satisfies ServiceRoom;
}
