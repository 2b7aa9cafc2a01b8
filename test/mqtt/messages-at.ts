import { pino } from "pino";
import { BrokerMessages } from "../../src/mqtt/messages.ts";
import { openConnection } from "../../src/mqtt/mqtt-connection.ts";
import { within } from "../until.ts";

/** Messages over a connection like the bridge's, and how to close it. */
export async function messagesAt(
  url: string,
  now: () => number = Date.now,
): Promise<{ readonly messages: BrokerMessages; readonly close: () => Promise<void> }> {
  const connection = await openConnection({
    settings: { url, clientId: "rigbridge" },
    will: { topic: "rigbridge/bridge/state", payload: "offline" },
    log: pino({ level: "silent" }),
  });
  const messages = new BrokerMessages(now);
  messages.join(connection);
  const connected = new Promise<void>((resolve) => connection.connected(resolve));
  await within(connected, "the client to connect to the broker");
  return { messages, close: () => connection.close() };
}
