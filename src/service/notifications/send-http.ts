import { createHmac } from "node:crypto";
import type { ChannelSettings } from "../../contract/channels.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import { checkedTarget, sendWebRequest, type WebReply } from "../web-request.ts";
import { ownerSends, type WebTargets } from "../web-targets.ts";
import type { HttpChannel, Level } from "./channel-types.ts";
import { escapes, fill, fillJson, type Values } from "./fill.ts";

/** A message for a channel. */
export interface OutgoingMessage {
  /** The same for every retry. */
  readonly id: string;
  readonly event: "alarm" | "recovery" | "test";
  readonly level: Level;
  readonly title: string;
  readonly message: string;
  /** The number of notifications in it. */
  readonly count: number;
  /** "" unless it concerns a single miner. */
  readonly miner: string;
  readonly group: string;
  readonly miners: readonly string[];
  /** Epoch ms. */
  readonly time: number;
}

/** `sent`; `later`: retry, after this many ms if the channel asks for it; `failed`: final. */
export type Outcome =
  | { readonly kind: "sent"; readonly answer: string }
  | { readonly kind: "later"; readonly error: string; readonly waitMs: number | null }
  | { readonly kind: "failed"; readonly error: string };

/** No service asks for longer waits; they would be a mistake. */
const longestWaitMs = 21_600_000;

/** Sends a message with one request. Never rejects. `now`: epoch ms. */
export async function sendHttp(
  channel: HttpChannel,
  settings: ChannelSettings,
  message: OutgoingMessage,
  { now, signal, targets }: { readonly now: number; readonly signal: AbortSignal; readonly targets: WebTargets },
): Promise<Outcome> {
  try {
    const { url, ...request } = requestOf(channel, settings, message, now);
    const target = await checkedTarget(url, {
      refusal: (at, addresses) => targets.resolvedRefusal(at, addresses, ownerSends),
      signal,
    });
    return outcomeOf(channel, target.url.host, await sendWebRequest(target, { ...request, signal }));
  } catch (error) {
    const text = error instanceof RigbridgeError ? error.message : "it could not be sent";
    return { kind: "later", error: text, waitMs: null };
  }
}

/** The request with all values filled in. */
export function requestOf(channel: HttpChannel, settings: ChannelSettings, message: OutgoingMessage, now: number) {
  const values: Values = { ...textsIn(settings), ...channel.levels?.[message.level], ...valuesOf(channel, message) };
  // The address of a service and a web hook's URL are used as they are.
  const base = "url" in settings && settings.type !== "http" ? settings.url.replace(/\/+$/, "") : "";
  const url = fill(
    channel.url.replace("{{url}}", () => base),
    values,
    escapes.url,
  );
  const body =
    typeof channel.body === "string"
      ? fill(channel.body, values, channel.escape)
      : JSON.stringify(fillJson(channel.body, values, channel.escape));
  const headers = Object.fromEntries(
    Object.entries(channel.headers)
      .filter(([, text]) => settings.type === "http" || !isUnset(text, values))
      .map(([name, text]) => [name, settings.type === "http" ? text : fill(text, values, escapes.plain)]),
  );
  const signed =
    channel.signedWith === undefined ? {} : signature(String(values[channel.signedWith]), body, message, now);
  return {
    url,
    method: channel.method,
    headers: { ...headers, ...signed },
    ...(channel.method === "GET" ? {} : { body }),
  };
}

/** A header whose setting was left out, such as ntfy's token. */
const isUnset = (text: string, values: Values): boolean =>
  Array.from(text.matchAll(/\{\{(\w+)\}\}/g)).some(([, name = ""]) => values[name] === undefined);

function signature(secret: string, body: string, { id }: OutgoingMessage, now: number): Record<string, string> {
  const timestamp = String(Math.floor(now / 1000));
  return {
    "x-rigbridge-timestamp": timestamp,
    "x-rigbridge-delivery": id,
    "x-rigbridge-signature": `sha256=${createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex")}`,
  };
}

/** The settings that texts may name; a custom channel's own are not among them. */
const textsIn = (settings: ChannelSettings): Values =>
  settings.type === "http"
    ? {}
    : Object.fromEntries(
        Object.entries(settings).flatMap(([name, value]) =>
          typeof value === "string" || typeof value === "number" ? [[name, value]] : [],
        ),
      );

const valuesOf = ({ limits }: HttpChannel, message: OutgoingMessage): Values => ({
  id: message.id,
  event: message.event,
  severity: message.level === "recovery" ? "info" : message.level,
  title: shortened(message.title, limits.title),
  message: shortened(message.message, limits.message),
  time: new Date(message.time).toISOString(),
  count: message.count,
  miner: message.miner,
  group: message.group,
  miners: message.miners,
});

const shortened = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;

/** The outcome of an answer; quotes no more of it than a short line, without the address. */
export function outcomeOf({ success, retry }: HttpChannel, at: string, { status, headers, body }: WebReply): Outcome {
  const { statuses, answer } = success;
  const isRight = statuses?.includes(status) ?? (status >= 200 && status < 300);
  if (isRight && answer?.(body) !== false) return { kind: "sent", answer: `${at} answers ${status}` };
  if (status >= 200 && status < 300)
    return { kind: "later", error: `${at} answers ${status}, but not as this service answers`, waitMs: null };
  const redirect = status >= 300 && status < 400 ? "; redirects are not followed" : "";
  const error = `${at} answers ${status}${redirect}${advice[status] ?? ""}`;
  if (!retry.isTried(status)) return { kind: "failed", error };
  return { kind: "later", error, waitMs: waitIn(retry, headers, body) };
}

const advice: Readonly<Record<number, string>> = {
  401: "; check its token",
  403: "; check its token and what it may do",
  404: "; check its address and ids",
  424: "; some of its services did not take it",
};

function waitIn(
  { wait, waitUnitMs = 1 }: HttpChannel["retry"],
  headers: WebReply["headers"],
  body: string,
): number | null {
  const inBody = Number(wait?.(parsed(body)) ?? Number.NaN) * waitUnitMs;
  const inHeader = Number(headers["retry-after"] ?? Number.NaN) * 1000;
  const ms = Number.isFinite(inBody) ? inBody : inHeader;
  return Number.isFinite(ms) && ms >= 0 ? Math.min(ms, longestWaitMs) : null;
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
