import type { FromAgent, ToAgent } from "./agent.ts";

/** The open connection of a program that connects to the service, such as a host's agent, as seen by the service. */
export interface InwardConnection<Out> {
  send(message: Out): void;
  /** Bytes for a channel of this connection. */
  sendFrame(channel: number, bytes: Uint8Array): void;
  /** Ends it; the program logs the reason, and reconnects soon only if the service is `away`. */
  close(reason: string, why?: "refused" | "away"): void;
}

/** How a program has closed its connection: code and reason of the WebSocket. */
export interface ClosedBy {
  readonly code: number;
  readonly reason: string;
}

/** Receives messages and bytes from the program. Messages have been validated. */
export interface InwardReceiver<In> {
  message(message: In): void;
  frame(channel: number, bytes: Uint8Array): void;
  /** Called once, also after `close`; absent: the program has not closed it. */
  closed(by?: ClosedBy): void;
}

export interface AgentConnection extends InwardConnection<ToAgent> {}
export interface AgentReceiver extends InwardReceiver<FromAgent> {}
