import type { FromAgent, ToAgent } from "./agent.ts";

/** The open connection of a host's agent, as seen by the service. */
export interface AgentConnection {
  send(message: ToAgent): void;
  /** Bytes for a connection to the API of a program. */
  sendFrame(channel: number, bytes: Uint8Array): void;
  /** Ends it; the agent logs the reason, and reconnects soon only if the service is `away`. */
  close(reason: string, why?: "refused" | "away"): void;
}

/** Receives messages and bytes from the agent. Messages have been validated. */
export interface AgentReceiver {
  message(message: FromAgent): void;
  frame(channel: number, bytes: Uint8Array): void;
  /** Called once, also after `close`. */
  closed(): void;
}
