import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { badRequest, noKey, notAllowed, notJson, Refusal, tooLarge, wrongMethod } from "./refusals.ts";
import type { Route } from "./routes.ts";
import { mayDo, userOf } from "./users.ts";

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const mostBytes = 1_000_000;

/** Answers requests by the routes; `note` is called with each, such as "GET /api/miners", without the key. */
export function answering(
  routes: readonly Route[],
  key: string | undefined,
  note: (path: string) => void,
): RequestListener {
  return (request, response) => {
    void answerTo(request, routes, key, note).then((answer) => send(response, answer));
  };
}

async function answerTo(
  request: IncomingMessage,
  routes: readonly Route[],
  key: string | undefined,
  note: (path: string) => void,
): Promise<Answer> {
  const method = request.method ?? "GET";
  try {
    const url = urlOf(request);
    note(`${method} ${withoutKey(url)}`);
    const body = await bodyOf(request);
    const here = routes.flatMap((route) => {
      const params = paramsOf(route.path, url.pathname);
      return params === null ? [] : [{ route, params }];
    });
    if (here.length === 0) return noPage;
    if (key !== undefined && url.searchParams.get("key") !== key) throw noKey();
    const found = here.find(({ route }) => route.method === method);
    if (found === undefined) {
      return { ...refused(wrongMethod(method)), headers: { allow: here.map(({ route }) => route.method).join(", ") } };
    }
    const { route, params } = found;
    const user = userOf(url.searchParams);
    if (!mayDo(user, route.needs)) throw notAllowed();
    const json = route.takesBody ? jsonIn(body, request.headers["content-type"]) : undefined;
    const reply = route.reply({ params, query: url.searchParams, body: json, user });
    return { status: 200, type: "application/json", text: JSON.stringify(reply) };
  } catch (error) {
    if (error instanceof Refusal) return refused(error);
    return { status: 500, type: "text/plain", text: "An error has occurred." };
  }
}

function send(response: ServerResponse, { status, type, text, headers = {} }: Answer): void {
  response.writeHead(status, {
    ...headers,
    "content-type": `${type}; charset=utf-8`,
    "content-length": Buffer.byteLength(text),
  });
  response.end(text);
}

function refused({ status, form, message }: Refusal): Answer {
  return form === "text"
    ? { status, type: "text/plain", text: message }
    : { status, type: "application/json", text: JSON.stringify({ message }) };
}

/** The answer of a desktop product's web server for a missing page. */
const noPage: Answer = {
  status: 404,
  type: "text/html",
  text: "<html><head><title>404 Not Found</title></head><body><h1>Not Found</h1></body></html>",
};

function urlOf({ url = "/" }: IncomingMessage): URL {
  const full = `http://localhost${url}`;
  if (!url.startsWith("/") || !URL.canParse(full)) throw badRequest("Bad request.");
  return new URL(full);
}

function withoutKey({ pathname, searchParams }: URL): string {
  const rest = new URLSearchParams(searchParams);
  rest.delete("key");
  return rest.size === 0 ? pathname : `${pathname}?${rest}`;
}

/** The parts of a path where the pattern has `*`; null for another path. */
function paramsOf(pattern: string, path: string): string[] | null {
  const wanted = pattern.split("/");
  const given = path.split("/");
  if (wanted.length !== given.length) return null;
  const params: string[] = [];
  for (const [index, part] of wanted.entries()) {
    const text = decoded(given[index] ?? "");
    if (part === "*" && text !== "") params.push(text);
    else if (part !== text) return null;
  }
  return params;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length <= mostBytes) chunks.push(bytes);
  }
  // Only now, since a client that is still sending would not read an answer.
  if (length > mostBytes) throw tooLarge();
  return Buffer.concat(chunks);
}

function jsonIn(body: Buffer, type = ""): unknown {
  if (!/^application\/json\b/i.test(type)) throw notJson();
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    throw badRequest("The body is not valid JSON.");
  }
}
