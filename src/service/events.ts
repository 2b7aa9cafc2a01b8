import type { ServiceEvent } from "../contract/events.ts";
import type { Command, Notification } from "../contract/resources.ts";
import type { Caller, EncodedEvent, Input } from "../contract/service.ts";

/** What is told to who watches: the last 10,000 events, to resume from, and those who listen. */
export class Events {
  /** A miner's JSON is another. `before` is the group it stood in until now, null when it is new. */
  miner(_miner: { id: number; groupId: number; before: number | null; json: Uint8Array }): void {}

  minerRemoved(_miner: { id: number; uid: string | null; groupId: number }): void {}

  notification(_notification: Notification, _minerId: number | null): void {}

  command(_command: Command): void {}

  /** Another set of miners, groups or pools is to be seen by somebody: everybody reads the lists anew. */
  reset(): void {}

  /** Ends all streams. */
  close(): void {}

  encoded(_input: Input<"watchEvents">, _caller: Caller, _signal: AbortSignal): AsyncIterable<readonly EncodedEvent[]> {
    throw new Error("later");
  }

  watch(_input: Input<"watchEvents">, _caller: Caller, _signal: AbortSignal): AsyncIterable<ServiceEvent> {
    throw new Error("later");
  }
}
