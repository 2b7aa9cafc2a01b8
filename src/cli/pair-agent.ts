import type { Agent } from "../agent/agent.ts";
import type { AgentConnection, AgentReceiver } from "../contract/agent-connection.ts";

/**
 * Connects an agent of this process with the service; `take` hands the service its end. Each message is delivered in a
 * later turn of the event loop, as over a socket. Returns a function that ends the connection.
 */
export function pairAgent(
  agent: Pick<Agent, "connected">,
  take: (connection: AgentConnection) => AgentReceiver | undefined,
): () => void {
  let isOpen = true;
  let ofAgent: ReturnType<Agent["connected"]> | null = null;
  const later = (work: () => void): void => void setImmediate(() => isOpen && work());
  const ofService = take({
    send: (message) => later(() => ofAgent?.message(message)),
    sendFrame: (channel, bytes) => {
      const copy = Buffer.from(bytes);
      later(() => ofAgent?.frame(channel, copy));
    },
    close: () => end(),
  });
  const end = (): void => {
    if (!isOpen) return;
    isOpen = false;
    ofAgent?.closed();
    ofService?.closed();
  };
  ofAgent = agent.connected({
    send: (message) => later(() => ofService?.message(message)),
    sendFrame: (channel, bytes) => {
      const copy = Buffer.from(bytes);
      later(() => ofService?.frame(channel, copy));
    },
    waiting: 0,
  });
  return end;
}
