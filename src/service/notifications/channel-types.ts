import type { ChannelSettings } from "../../contract/channels.ts";
import { escapes, type Json, type Values } from "./fill.ts";

/** The displayed urgency of a message: that of its worst alarm, or a recovery. */
export type Level = "info" | "warning" | "critical" | "recovery";

/** A channel reached by one HTTP request. */
export interface HttpChannel {
  readonly method: string;
  /** Texts may name values: those of the message, those of the level, and the settings of the channel. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A text, or the JSON. */
  readonly body: string | Json;
  readonly escape: (value: string) => string;
  /** Values of each level. */
  readonly levels?: Readonly<Record<Level, Values>>;
  /** Maximum characters. */
  readonly limits: { readonly title: number; readonly message: number };
  readonly success: {
    /** Absent: 200 to 299. */
    readonly statuses?: readonly number[];
    /** Whether the answer confirms delivery; an HTML page does not. */
    readonly answer?: (body: string) => boolean;
  };
  readonly retry: {
    readonly isTried: (status: number) => boolean;
    readonly firstMs: number;
    readonly longestMs: number;
    /** The wait in ms that the answer asks for. */
    readonly wait?: (json: unknown) => unknown;
    readonly waitUnitMs?: number;
  };
  /** The receiver ignores a repeat with the same id, so a message that may have been sent is sent again. */
  readonly repeatable: boolean;
  /** The secret that signs the body. */
  readonly signedWith?: string;
}

type HttpSettings = Exclude<ChannelSettings, { type: "mail" | "http" }>;

const isBusy = (status: number): boolean => [408, 425, 429].includes(status) || status >= 500;
const retry = { isTried: isBusy, firstMs: 5_000, longestMs: 600_000 } as const;
const usual = {
  method: "POST",
  headers: {},
  escape: escapes.plain,
  retry,
  repeatable: false,
  limits: { title: 200, message: 2000 },
} as const;
const json = { "content-type": "application/json" };

/** The value at a path of the JSON answer. */
const field = (body: unknown, ...path: readonly string[]): unknown => {
  let value = body;
  for (const key of path) value = typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
  return value;
};
const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
};
/** The login page of a captive portal is not a delivery. */
const isJson = (body: string): boolean => parsed(body) !== undefined;
const has =
  (key: string, isRight: (value: unknown) => boolean = (value) => value !== undefined) =>
  (body: string): boolean =>
    isRight(field(parsed(body), key));

/** Each service as its own documents describe it. */
const types: { readonly [T in HttpSettings["type"]]: HttpChannel } = {
  ntfy: {
    ...usual,
    url: "{{url}}/",
    headers: { ...json, authorization: "Bearer {{token}}" },
    body: {
      topic: "{{topic}}",
      title: "{{title}}",
      message: "{{message}}",
      priority: "{{priority}}",
      tags: "{{tags}}",
    },
    levels: {
      info: { priority: 3, tags: ["information_source"] },
      warning: { priority: 4, tags: ["warning"] },
      critical: { priority: 5, tags: ["rotating_light"] },
      recovery: { priority: 3, tags: ["white_check_mark"] },
    },
    success: { statuses: [200], answer: isJson },
  },
  telegram: {
    ...usual,
    url: "{{url}}/bot{{token}}/sendMessage",
    headers: json,
    body: {
      chat_id: "{{chat}}",
      text: "<b>{{title}}</b>\n{{message}}",
      parse_mode: "HTML",
      disable_notification: "{{silent}}",
    },
    escape: escapes.html,
    levels: {
      info: { silent: true },
      warning: { silent: false },
      critical: { silent: false },
      recovery: { silent: true },
    },
    limits: { title: 200, message: 3800 },
    success: { statuses: [200], answer: has("ok", (ok) => ok === true) },
    retry: { ...retry, wait: (body) => field(body, "parameters", "retry_after"), waitUnitMs: 1000 },
  },
  pushover: {
    ...usual,
    url: "{{url}}/1/messages.json",
    headers: json,
    body: {
      token: "{{token}}",
      user: "{{user}}",
      title: "{{title}}",
      message: "{{message}}",
      priority: "{{priority}}",
      retry: "{{repeat}}",
      expire: "{{expire}}",
    },
    levels: {
      info: { priority: -1 },
      warning: { priority: 0 },
      critical: { priority: 2, repeat: 60, expire: 3600 },
      recovery: { priority: -1 },
    },
    limits: { title: 250, message: 1024 },
    success: { statuses: [200], answer: has("status", (status) => status === 1) },
    // A 4xx is never retried, including 429 (the month's quota).
    retry: { ...retry, isTried: (status) => status >= 500 },
  },
  discord: {
    ...usual,
    url: "{{url}}",
    headers: json,
    body: {
      embeds: [{ title: "{{title}}", description: "{{message}}", color: "{{color}}" }],
      // A miner's name must not mention everyone.
      allowed_mentions: { parse: [] },
    },
    levels: {
      info: { color: 0x3498db },
      warning: { color: 0xf1c40f },
      critical: { color: 0xe74c3c },
      recovery: { color: 0x2ecc71 },
    },
    success: { statuses: [204] },
    retry: { ...retry, wait: (body) => field(body, "retry_after"), waitUnitMs: 1000 },
  },
  slack: {
    ...usual,
    url: "{{url}}",
    headers: json,
    body: { text: "*{{title}}*\n{{message}}" },
    escape: escapes.html,
    success: { statuses: [200], answer: (body) => body.trim() === "ok" },
  },
  gotify: {
    ...usual,
    url: "{{url}}/message",
    headers: { ...json, "x-gotify-key": "{{token}}" },
    body: { title: "{{title}}", message: "{{message}}", priority: "{{priority}}" },
    levels: {
      info: { priority: 2 },
      warning: { priority: 5 },
      critical: { priority: 8 },
      recovery: { priority: 2 },
    },
    success: { statuses: [200], answer: isJson },
  },
  matrix: {
    ...usual,
    method: "PUT",
    url: "{{url}}/_matrix/client/v3/rooms/{{room}}/send/m.room.message/{{id}}",
    headers: { ...json, authorization: "Bearer {{token}}" },
    body: { msgtype: "m.text", body: "{{title}}\n{{message}}" },
    success: { statuses: [200], answer: has("event_id") },
    retry: { ...retry, wait: (body) => field(body, "retry_after_ms"), waitUnitMs: 1 },
    repeatable: true,
  },
  apprise: {
    ...usual,
    url: "{{url}}/notify/{{config}}",
    headers: json,
    body: { title: "{{title}}", body: "{{message}}", type: "{{kind}}", tag: "{{tag}}" },
    levels: {
      info: { kind: "info" },
      warning: { kind: "warning" },
      critical: { kind: "failure" },
      recovery: { kind: "success" },
    },
    // 424: some of its services have received it, so it is not sent again.
    success: { statuses: [200], answer: (body) => !/<html/i.test(body) },
  },
  webhook: {
    ...usual,
    url: "{{url}}",
    headers: json,
    body: {
      id: "{{id}}",
      event: "{{event}}",
      severity: "{{severity}}",
      time: "{{time}}",
      title: "{{title}}",
      message: "{{message}}",
      count: "{{count}}",
      miner: "{{miner}}",
      group: "{{group}}",
      miners: "{{miners}}",
    },
    limits: { title: 200, message: 10_000 },
    success: {},
    retry: { isTried: () => true, firstMs: 1_000, longestMs: 3_600_000 },
    repeatable: true,
    signedWith: "secret",
  },
};

/** How to reach a channel; null for mail. */
export function httpChannel(settings: ChannelSettings): HttpChannel | null {
  if (settings.type === "mail") return null;
  if (settings.type !== "http") return types[settings.type];
  const { method, url, headers, body, success, retry: rule } = settings;
  const type =
    Object.entries(headers).find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "application/json";
  const { contains } = success;
  return {
    method,
    url,
    body,
    repeatable: rule.repeatable,
    limits: usual.limits,
    headers: { "content-type": type, ...headers },
    escape: escapeOf(type),
    success: {
      ...(success.status === undefined ? {} : { statuses: success.status }),
      ...(contains === undefined ? {} : { answer: (answer) => answer.includes(contains) }),
    },
    retry: {
      isTried: (status) => rule.statuses.includes(status),
      firstMs: rule.first * 1000,
      longestMs: rule.longest * 1000,
    },
  };
}

function escapeOf(type: string): (value: string) => string {
  if (/json/i.test(type)) return escapes.json;
  if (/form-urlencoded/i.test(type)) return escapes.url;
  return /html|xml/i.test(type) ? escapes.html : escapes.plain;
}
