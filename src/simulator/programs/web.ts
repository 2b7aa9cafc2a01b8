import { type HttpRequest, httpReply } from "../http-message.ts";
import type { Reply } from "../reply.ts";
import { type Conversation, logWrite } from "../rig.ts";
import type { Program } from "./program.ts";

/** A JSON answer that closes its connection. */
export const json = (value: unknown, status = 200, reason = "OK"): Reply =>
  httpReply({
    status,
    reason,
    headers: ["Content-Type: application/json", "Content-Length: {length}", "Connection: close"],
    body: JSON.stringify(value),
    close: true,
  });

export const notFound = (): Reply =>
  httpReply({
    status: 404,
    reason: "Not Found",
    headers: ["Content-Type: text/plain", "Content-Length: {length}", "Connection: close"],
    body: "Not Found",
    close: true,
  });

/** The pages of a program by path; `write` if a request to it changes something. */
export type Pages = Readonly<
  Record<string, { readonly write?: true; readonly answer: (request: HttpRequest) => Reply }>
>;

/** A program that answers GETs from the advanced model; any other request gets 404. */
export const web = ({ model, body }: Program, pages: Pages): Conversation => ({
  http: (request) => {
    model.advance();
    const page = request.method === "GET" && Object.hasOwn(pages, request.path) ? pages[request.path] : undefined;
    if (page === undefined) return notFound();
    if (page.write === true) logWrite(body.requests, `GET ${request.path}?${request.query}`);
    return page.answer(request);
  },
});

/** The host and port of a URL alone. */
export const hostPort = (url: string): string => url.replace(/^[a-z0-9+]+:\/\//, "");
