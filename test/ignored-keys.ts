import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { ServerResponse } from "node:http";
import { isRecord } from "../src/contract/record.ts";

const channel = "http.server.response.finish";

/** Records which requests to the servers of this process had keys that were ignored; our own clients send none. */
export function recordIgnoredKeys(port: number): { end(): readonly string[] } {
  const found: string[] = [];
  const look = (message: unknown) => {
    const response = isRecord(message) ? message.response : undefined;
    if (!(response instanceof ServerResponse) || response.req.socket.localPort !== port) return;
    const keys = response.getHeader("x-ignored-keys");
    if (keys !== undefined) found.push(`${response.req.method} ${response.req.url}: ${String(keys)}`);
  };
  subscribe(channel, look);
  return {
    end: () => {
      unsubscribe(channel, look);
      return found;
    },
  };
}
