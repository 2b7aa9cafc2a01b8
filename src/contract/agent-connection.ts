import type { FromAgent, ToAgent } from "./agent.ts";

/** The open connection of a host's agent, as the service uses it. */
export interface AgentConnection {
  send(message: ToAgent): void;
  /** Bytes for a connection to the API of a program. */
  sendFrame(channel: number, bytes: Uint8Array): void;
  /** Ends it; the agent logs the reason, and comes back soon only if the service is `away` for a while. */
  close(reason: string, why?: "refused" | "away"): void;
}

/** Takes what comes from the agent. Messages have been checked. */
export interface AgentReceiver {
  message(message: FromAgent): void;
  frame(channel: number, bytes: Buffer): void;
  /** Called once, also after `close`. */
  closed(): void;
}
