import { RigbridgeError } from "../../contract/problems.ts";
import { sendWebRequest } from "../web-request.ts";
import type { WebRequest } from "./effects.ts";

/**
 * Sends the request of a step; resolves with the status. Throws `service.refused` for any but 2xx, and as `sendWebRequest`.
 */
export async function sendWebHook(
  { url, method, headers, body }: WebRequest,
  isOwnAddress: (url: URL) => boolean,
  signal: AbortSignal,
): Promise<string> {
  const type = /^\s*[[{]/.test(body ?? "") ? "application/json" : "text/plain; charset=utf-8";
  const { status } = await sendWebRequest(url, {
    ...{ method, signal, isOwnAddress, isAnswerRead: false },
    headers: { ...(body === null ? {} : { "content-type": type }), ...lowerCase(headers) },
    body: body ?? undefined,
  });
  const { host } = new URL(url);
  if (status >= 200 && status < 300) return `${host} answered ${status}`;
  throw new RigbridgeError("service.refused", `${host} answered ${status}`);
}

/** So that a header of the step replaces one of ours. */
const lowerCase = (headers: WebRequest["headers"]): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
