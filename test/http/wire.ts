import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { connect, type Socket } from "node:net";
import { pino } from "pino";
import { HttpSettings } from "../../src/config/schema.ts";
import { type HttpLimits, httpLimits } from "../../src/http/limits.ts";
import { type HttpServer, type HttpServerOptions, startHttpServer } from "../../src/http/server.ts";
import { within } from "../until.ts";
import { type Stub, stub } from "./stub.ts";

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  /** The body as JSON; an empty object where it is none. */
  readonly json: Record<string, unknown>;
}

export interface Ask {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly from?: string;
}

export interface Served extends Stub {
  readonly server: HttpServer;
  readonly port: number;
  /** Everything that was logged, a JSON line each. */
  readonly logged: string[];
  ask(method: string, target: string, what?: Ask): Promise<Answer>;
  /** Writes bytes on a connection of its own and answers with all that came until it was closed. */
  raw(bytes: string): Promise<string>;
}

/** A server over a stub on a free port of 127.0.0.1. */
export async function serve(
  settings: Partial<HttpSettings> = {},
  limits: Partial<HttpLimits> = {},
  host = "127.0.0.1",
  rest: Pick<HttpServerOptions, "sessions" | "web" | "remoteWrite" | "lease"> = {},
): Promise<Served> {
  const made = stub();
  const logged: string[] = [];
  const log = pino({ level: "trace" }, { write: (line: string) => logged.push(line) });
  const server = await startHttpServer({
    service: made.service,
    settings: HttpSettings.parse({ host, port: 0, ...settings }),
    log,
    version: "1.2.3",
    limits: { ...httpLimits, ...limits },
    ...rest,
  });
  const { port } = server.address;
  return {
    ...made,
    server,
    port,
    logged,
    ask: (method, target, what = {}) => ask(port, method, target, what),
    raw: (bytes) => raw(port, bytes),
  };
}

export function ask(
  port: number,
  method: string,
  target: string,
  { headers = {}, body, from }: Ask = {},
): Promise<Answer> {
  const answer = new Promise<Answer>((resolve, reject) => {
    const length =
      body === undefined || "transfer-encoding" in headers ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const options = { host: "127.0.0.1", port, method, path: target, headers: { ...length, ...headers }, agent: false };
    const asked = request(from === undefined ? options : { ...options, localAddress: from }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        resolve(answerOf(response, Buffer.concat(chunks)));
      });
    });
    asked.on("error", reject);
    asked.end(body);
  });
  return within(answer, `the answer to ${method} ${target.slice(0, 100)}`);
}

/** Long bodies take a while to decode, so only what a test looks at is decoded. */
const answerOf = ({ statusCode = 0, headers }: IncomingMessage, bytes: Buffer): Answer => ({
  status: statusCode,
  headers,
  bytes,
  get text() {
    return bytes.toString();
  },
  get json() {
    return jsonOf(this.text);
  },
});

function jsonOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** Writes bytes on a connection of its own and answers with all that came until it was closed. */
export function raw(port: number, bytes: string): Promise<string> {
  const socket = open(port);
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
  });
  const closed = new Promise<string>((resolve) => socket.on("close", () => resolve(text)));
  socket.write(bytes);
  return within(closed, "the server to close the connection", { details: () => text });
}

/** A connection whose resets are no fault of the test. */
export function open(port: number): Socket {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  return socket;
}
