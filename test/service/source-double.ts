import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { onTestFinished } from "../finished.ts";

/** What a double answers: a value as JSON, a text as it is, or what a function writes; absent paths are 404. */
export type Answer = object | string | ((response: ServerResponse, request: IncomingMessage) => void);

export interface SourceDouble {
  readonly url: string;
  readonly host: string;
  /** Method, path with query, headers and body of each request. */
  readonly asked: { readonly line: string; readonly headers: IncomingMessage["headers"]; readonly body: string }[];
  /** By the beginning of the path; the longest that fits counts. */
  readonly answers: Map<string, Answer>;
}

/** A local double of a source outside. */
export async function openDouble(answers: Record<string, Answer> = {}): Promise<SourceDouble> {
  const double: { -readonly [K in keyof SourceDouble]: SourceDouble[K] } = {
    url: "",
    host: "",
    asked: [],
    answers: new Map(Object.entries(answers)),
  };
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on("end", () => {
      const path = request.url ?? "";
      double.asked.push({ line: `${request.method} ${path}`, headers: request.headers, body });
      const fitting = [...double.answers].filter(([start]) => path.startsWith(start));
      const [, answer] = fitting.toSorted(([one], [other]) => other.length - one.length)[0] ?? [];
      if (answer === undefined) response.writeHead(404).end();
      else if (typeof answer === "function") answer(response, request);
      else if (typeof answer === "string") response.end(answer);
      else response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  double.host = `127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  double.url = `http://${double.host}`;
  return double;
}
