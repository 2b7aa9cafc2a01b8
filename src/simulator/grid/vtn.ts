import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import { asWritten, inOrder } from "./vtn-objects.ts";

export interface VtnOptions {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** What clients must log in with; absent: no login. */
  readonly login?: { readonly clientId: string; readonly clientSecret: string };
}

/**
 * What a VTN does wrong: `error`: 500; `slow`: a body that never ends; `huge`: a body of 100 MB; `elsewhere`: it redirects;
 * `page`: a web page instead of JSON; `unpaged`: it ignores skip and limit.
 */
export const vtnFaults = ["error", "slow", "huge", "elsewhere", "page", "unpaged"] as const;
export type VtnFault = (typeof vtnFaults)[number];

export interface VirtualVtn {
  /** Address of its API. */
  readonly url: string;
  programs: object[];
  events: object[];
  fault: VtnFault | null;
  /** Where `elsewhere` leads. */
  elsewhere: string;
  /** Paths with queries of the requests that it has received. */
  readonly requests: string[];
  /** Called before it answers a request, such as to change its lists between two pages. */
  before: (request: string) => void;
  /** Tokens that it has issued. */
  readonly tokens: string[];
  /** Makes its tokens invalid. */
  revoke(): void;
  close(): Promise<void>;
}

/** Objects of a page at most, as OpenADR 3.1 allows. */
const pageSize = 50;
const hugeBytes = 100_000_000;

/**
 * A server of OpenADR 3.1 (VTN) with programs, events and tokens for clients that log in. It answers as openleadr-vtn 0.2.8
 * does, which `npm run torture -- vtn` shows.
 */
export async function startVtn({ host = "127.0.0.1", login }: VtnOptions = {}): Promise<VirtualVtn> {
  const requests: string[] = [];
  const tokens: string[] = [];
  let valid: string | null = null;
  const state: Pick<VirtualVtn, "programs" | "events" | "fault" | "elsewhere" | "before"> = {
    programs: [],
    events: [],
    fault: null,
    elsewhere: "",
    before: () => {},
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://vtn");
    requests.push(request.url ?? "");
    state.before(request.url ?? "");
    const json = (status: number, body: unknown): void => {
      const challenge = status === 401 ? { "www-authenticate": 'Bearer realm="VTN"' } : {};
      response.writeHead(status, { "content-type": "application/json", ...challenge }).end(JSON.stringify(body));
    };
    const problem = (status: number, detail?: string): void => {
      const title = `${status} ${STATUS_CODES[status]}`;
      json(status, { type: "about:blank", title, status, detail, instance: randomUUID() });
    };
    if (isFaulty(state, response)) return;
    if (pathname === "/auth/token") {
      const form = new URLSearchParams(await textOf(request));
      const isKnown = form.get("client_id") === login?.clientId && form.get("client_secret") === login?.clientSecret;
      if (!isKnown)
        return json(401, { error: "invalid_client", error_description: "Invalid client_id or client_secret" });
      valid = `token-${tokens.length + 1}`;
      tokens.push(valid);
      return json(200, { access_token: valid, token_type: "Bearer", expires_in: 2_592_000 });
    }
    const isIn = login === undefined || (valid !== null && request.headers.authorization === `Bearer ${valid}`);
    if (!isIn) return problem(401, "Invalid authentication token provided");
    const list = { "/programs": state.programs, "/events": state.events }[pathname];
    if (list === undefined) return problem(404);
    const skip = Number(searchParams.get("skip") ?? 0);
    const limit = Number(searchParams.get("limit") ?? pageSize);
    if (!(skip >= 0 && limit >= 1 && limit <= pageSize)) return problem(400, "Validation error");
    const programId = searchParams.get("programID");
    const found = list.filter((each) => programId === null || Reflect.get(each, "programID") === programId);
    const page = state.fault === "unpaged" ? found : inOrder(found).slice(skip, skip + limit);
    json(200, page.map(asWritten));
  };
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return Object.assign(state, {
    url: `http://${host}:${port}`,
    requests,
    tokens,
    revoke: () => {
      valid = null;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  });
}

/** Answers with the fault of the server, if it has one that concerns every request. */
function isFaulty(
  { fault, elsewhere }: { readonly fault: VtnFault | null; readonly elsewhere: string },
  response: ServerResponse,
): boolean {
  switch (fault) {
    case "error":
      response.writeHead(500).end("out of order");
      return true;
    case "slow":
      response.writeHead(200, { "content-type": "application/json" });
      response.write("[");
      return true;
    case "huge":
      response.writeHead(200, { "content-type": "application/json", "content-length": String(hugeBytes) });
      response.write("[");
      send(response, hugeBytes - 1);
      return true;
    case "elsewhere":
      response.writeHead(302, { location: elsewhere }).end();
      return true;
    case "page":
      response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>Log in</title>");
      return true;
    default:
      return false;
  }
}

const spaces = Buffer.alloc(1_000_000, " ");

/** Sends that many bytes as fast as they are taken. */
function send(response: ServerResponse, left: number): void {
  if (response.destroyed) return;
  if (left <= 0) response.end();
  else response.write(spaces.subarray(0, left), () => send(response, left - spaces.length));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
