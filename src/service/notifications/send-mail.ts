import { createTransport } from "nodemailer";
import type { ChannelSettings } from "../../contract/channels.ts";
import { isRecord } from "../../contract/record.ts";
import { webRequestLimits } from "../web-request.ts";
import type { Outcome, OutgoingMessage } from "./send-http.ts";

type MailSettings = Extract<ChannelSettings, { type: "mail" }>;

/**
 * Sends a message by mail on its own connection. Never rejects, and never quotes the server, which may name the login.
 */
export async function sendMail(settings: MailSettings, message: OutgoingMessage): Promise<Outcome> {
  const { host, port, security, username, password, sender, to } = settings;
  const at = `${host}:${port}`;
  const transport = createTransport({
    host,
    port,
    secure: security === "tls",
    requireTLS: security === "starttls",
    ignoreTLS: security === "none",
    ...(username === undefined ? {} : { auth: { user: username, pass: password ?? "" } }),
    connectionTimeout: webRequestLimits.answerMs,
    greetingTimeout: webRequestLimits.answerMs,
    socketTimeout: webRequestLimits.answerMs,
    // A message must not refer to a file or an address to fetch.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    const { response } = await transport.sendMail({
      from: { name: "Rigbridge", address: sender },
      to,
      subject: message.title,
      text: message.message,
      messageId: `<${message.id}@rigbridge>`,
      ...(message.level === "critical" ? { priority: "high" as const } : {}),
    });
    return { kind: "sent", answer: `${at} answers ${String(response).slice(0, 3)}` };
  } catch (error) {
    return outcomeOf(at, error);
  } finally {
    transport.close();
  }
}

/** A 5xx is final (RFC 5321, 4.2.1). */
function outcomeOf(at: string, error: unknown): Outcome {
  const fields = isRecord(error) ? error : {};
  const status = typeof fields.responseCode === "number" ? fields.responseCode : null;
  const code = typeof fields.code === "string" ? fields.code : "";
  if (status !== null && status >= 500)
    return { kind: "failed", error: `${at} answers ${status}${advice[code] ?? ""}` };
  if (status !== null) return { kind: "later", error: `${at} answers ${status}${advice[code] ?? ""}`, waitMs: null };
  const why = reasons[code] ?? "cannot be reached";
  return { kind: "later", error: `${at} ${why}`, waitMs: null };
}

const advice: Readonly<Record<string, string>> = {
  EAUTH: "; check username and password",
  EENVELOPE: "; check sender and to",
};

const reasons: Readonly<Record<string, string>> = {
  ETIMEDOUT: "does not answer in time",
  ETLS: "does not offer encryption; check security and port",
  EDNS: "cannot be found; check host",
};
