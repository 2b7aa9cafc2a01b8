import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";
import { z } from "zod";
import { onTestFinished } from "../../finished.ts";

/** What a channel's server was asked. */
export interface Heard {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

type Answer = (response: ServerResponse, heard: Heard) => void;

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));

/** A server that hears requests and answers as it is told; the last answer repeats. */
export async function openDouble(...answers: readonly Answer[]) {
  const heard: Heard[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const one = {
      method: request.method ?? "",
      path: request.url ?? "",
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    };
    heard.push(one);
    (answers[heard.length - 1] ?? answers.at(-1) ?? json(200, { id: "1" }))(response, one);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { heard, url: `http://127.0.0.1:${portOf(server.address())}` };
}

const portOf = (address: AddressInfo | string | null): number =>
  typeof address === "object" && address !== null ? address.port : 0;

/** A mail server; `refusal` is what it answers to the recipients. */
export async function openMailServer(options: { readonly refusal?: { code: number; text: string } } = {}) {
  const mails: string[] = [];
  const logins: string[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    allowInsecureAuth: true,
    onAuth: ({ username = "", password = "" }, _session, done) => {
      logins.push(`${username}:${password}`);
      if (password === "right-password") done(null, { user: username });
      else done(Object.assign(new Error("no"), { responseCode: 535 }));
    },
    onRcptTo: (_address, _session, done) => {
      const { refusal } = options;
      done(refusal === undefined ? null : Object.assign(new Error(refusal.text), { responseCode: refusal.code }));
    },
    onData: (stream, _session, done) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        mails.push(Buffer.concat(chunks).toString());
        done();
      });
    },
  });
  server.on("error", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { mails, logins, port: portOf(server.server.address()) };
}

const Body = (shape: z.ZodRawShape) => z.strictObject(shape);
const text = z.string().min(1);

/** Each service as its documents describe it: a configuration, its answer, and a check of its request. */
export const services: Readonly<
  Record<
    string,
    {
      readonly settings: (url: string) => Record<string, unknown>;
      readonly answer: Answer;
      readonly method?: string;
      readonly path: RegExp;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body: z.ZodType;
    }
  >
> = {
  ntfy: {
    settings: (url) => ({ type: "ntfy", url, topic: "farm-topic", token: "tk_secret" }),
    answer: json(200, { id: "a1", event: "message" }),
    path: /^\/$/,
    headers: { authorization: "Bearer tk_secret" },
    body: Body({
      topic: z.literal("farm-topic"),
      title: text,
      message: text,
      priority: z.int().min(1).max(5),
      tags: z.array(text),
    }),
  },
  telegram: {
    settings: (url) => ({ type: "telegram", url, token: "123:bot-secret", chat: -42 }),
    answer: json(200, { ok: true, result: { message_id: 1 } }),
    path: /^\/bot123:bot-secret\/sendMessage$/,
    body: Body({
      chat_id: z.literal(-42),
      text: text.max(4096),
      parse_mode: z.literal("HTML"),
      disable_notification: z.boolean(),
    }),
  },
  pushover: {
    settings: (url) => ({ type: "pushover", url, token: "app-secret", user: "user-secret" }),
    answer: json(200, { status: 1, request: "r" }),
    path: /^\/1\/messages\.json$/,
    body: Body({
      token: z.literal("app-secret"),
      user: z.literal("user-secret"),
      title: text.max(250),
      message: text.max(1024),
      priority: z.int().min(-2).max(1),
    }),
  },
  discord: {
    settings: (url) => ({ type: "discord", url: `${url}/api/webhooks/1/hook-secret` }),
    answer: (response) => response.writeHead(204).end(),
    path: /^\/api\/webhooks\/1\/hook-secret$/,
    body: Body({
      embeds: z.array(z.strictObject({ title: text.max(256), description: text.max(4096), color: z.int() })).length(1),
      allowed_mentions: z.strictObject({ parse: z.array(z.never()) }),
    }),
  },
  slack: {
    settings: (url) => ({ type: "slack", url: `${url}/services/T0/B0/hook-secret` }),
    answer: (response) => response.end("ok"),
    path: /^\/services\/T0\/B0\/hook-secret$/,
    body: Body({ text }),
  },
  gotify: {
    settings: (url) => ({ type: "gotify", url: `${url}/gotify`, token: "app-secret" }),
    answer: json(200, { id: 7 }),
    path: /^\/gotify\/message$/,
    headers: { "x-gotify-key": "app-secret" },
    body: Body({ title: text, message: text, priority: z.int().min(0).max(10) }),
  },
  matrix: {
    settings: (url) => ({ type: "matrix", url, token: "access-secret", room: "!room:example.org" }),
    answer: json(200, { event_id: "$1" }),
    method: "PUT",
    path: /^\/_matrix\/client\/v3\/rooms\/!room:example\.org\/send\/m\.room\.message\/[\w-]+$/,
    headers: { authorization: "Bearer access-secret" },
    body: Body({ msgtype: z.literal("m.text"), body: text }),
  },
  apprise: {
    settings: (url) => ({ type: "apprise", url, config: "config-secret" }),
    answer: json(200, {}),
    path: /^\/notify\/config-secret$/,
    body: Body({ title: text, body: text, type: z.enum(["info", "success", "warning", "failure"]) }),
  },
  webhook: {
    settings: (url) => ({ type: "webhook", url: `${url}/in`, secret: "signing-secret" }),
    answer: (response) => response.writeHead(202).end(),
    path: /^\/in$/,
    body: Body({
      id: text,
      event: z.enum(["alarm", "recovery"]),
      severity: z.enum(["info", "warning", "critical"]),
      time: z.iso.datetime(),
      title: text,
      message: text,
      count: z.literal(1),
      miner: text,
      group: text,
      miners: z.array(text).length(1),
    }),
  },
  http: {
    settings: (url) => ({
      type: "http",
      url: `${url}/own?about={{miner}}`,
      headers: { "X-Token": "own-secret" },
      body: '{"what": "{{title}}", "text": "{{message}}", "how": "{{severity}}"}',
      success: { contains: "accepted" },
    }),
    answer: (response) => response.end("accepted, thank you"),
    path: /^\/own\?about=rig%20%221%22$/,
    headers: { "x-token": "own-secret" },
    body: Body({ what: text, text, how: z.enum(["info", "warning", "critical"]) }),
  },
};

/** Whether a web hook's signature is that of its body. */
export function isSigned({ headers, body }: Heard, secret: string): boolean {
  const right = createHmac("sha256", secret).update(`${headers["x-rigbridge-timestamp"]}.${body}`).digest("hex");
  return headers["x-rigbridge-signature"] === `sha256=${right}`;
}
