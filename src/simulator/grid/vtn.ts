import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

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
  /** Tokens that it has issued. */
  readonly tokens: string[];
  /** Makes its tokens invalid. */
  revoke(): void;
  close(): Promise<void>;
}

/** Objects of a page at most, as OpenADR 3.1 allows. */
const pageSize = 50;
const hugeBytes = 100_000_000;

/** A server of OpenADR 3.1 (VTN) with programs, events and tokens for clients that log in. */
export async function startVtn({ host = "127.0.0.1", login }: VtnOptions = {}): Promise<VirtualVtn> {
  const requests: string[] = [];
  const tokens: string[] = [];
  let valid: string | null = null;
  const state: Pick<VirtualVtn, "programs" | "events" | "fault" | "elsewhere"> = {
    programs: [],
    events: [],
    fault: null,
    elsewhere: "",
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://vtn");
    requests.push(request.url ?? "");
    const json = (status: number, body: unknown): void => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    if (isFaulty(state, response)) return;
    if (pathname === "/auth/token") {
      const form = new URLSearchParams(await textOf(request));
      const isKnown = form.get("client_id") === login?.clientId && form.get("client_secret") === login?.clientSecret;
      if (!isKnown) return json(401, { error: "invalid_client" });
      valid = `token-${tokens.length + 1}`;
      tokens.push(valid);
      return json(200, { access_token: valid, token_type: "Bearer", expires_in: 3600 });
    }
    const isIn = login === undefined || (valid !== null && request.headers.authorization === `Bearer ${valid}`);
    if (!isIn) return json(403, { title: "Forbidden", status: 403 });
    const list = { "/programs": state.programs, "/events": state.events }[pathname];
    if (list === undefined) return json(404, { title: "Not found", status: 404 });
    const programId = searchParams.get("programID");
    const found = list.filter((each) => programId === null || Reflect.get(each, "programID") === programId);
    const skip = Number(searchParams.get("skip") ?? 0);
    json(200, state.fault === "unpaged" ? found : found.slice(skip, skip + pageSize));
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
