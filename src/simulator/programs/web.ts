import { type HttpRequest, httpReply } from "../http-message.ts";
import type { Reply } from "../reply.ts";
import { type Conversation, logWrite } from "../rig.ts";
import type { Program } from "./program.ts";

/** An answer of JSON that ends its connection. */
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

/** What a program serves at each path, `write` where a request to it changes something. */
export type Pages = Readonly<
  Record<string, { readonly write?: true; readonly answer: (request: HttpRequest) => Reply }>
>;

/** A program that answers GETs with the model brought up to date; everything else is not found. */
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
