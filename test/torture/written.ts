import { Agent, request } from "node:http";
import { z } from "zod";

/** A request that was answered, or null when the connection broke before it was. */
export type Answered = { readonly status: number; readonly body: unknown } | null;
export type Send = (method: string, path: string, body?: object, extra?: Extra) => Promise<Answered>;

export interface Extra {
  readonly headers?: Readonly<Record<string, string>>;
  /** Ends a request that takes longer. */
  readonly timeoutMs?: number;
}

/** Sends to a service over connections that are kept. */
export function sender(url: string): { send: Send; close: () => void } {
  const agent = new Agent({ keepAlive: true });
  const send: Send = (method, path, body, { headers: more = {}, timeoutMs } = {}) =>
    new Promise((resolve) => {
      const json = body === undefined ? undefined : JSON.stringify(body);
      const headers = { ...(json === undefined ? {} : { "content-type": "application/json" }), ...more };
      const ending = timeoutMs === undefined ? {} : { signal: AbortSignal.timeout(timeoutMs) };
      const sent = request(new URL(path, url), { method, headers, agent, ...ending }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => {
          text += part;
        });
        response.on("error", () => undefined);
        response.on("close", () =>
          resolve(response.complete ? { status: response.statusCode ?? 0, body: parsed(text) } : null),
        );
      });
      sent.on("error", () => resolve(null));
      sent.end(json);
    });
  return { send, close: () => agent.destroy() };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** One kind of things that can be added, renamed and removed. */
export interface Kind {
  readonly path: string;
  /** The field that holds the name. */
  readonly field: string;
  readonly changes: "POST" | "PATCH";
  /** What a new one needs beside its name; each has a number of its own. */
  readonly more?: (number: number) => object;
  /** What makes it be refused. */
  readonly wrong: object;
  /** The rows in the answer to GET. */
  readonly rows: z.ZodType<readonly unknown[]>;
}

const list = z.array(z.unknown());

export const kinds: readonly Kind[] = [
  {
    path: "/api/pools",
    field: "description",
    changes: "POST",
    more: () => ({ url: "stratum+tcp://pool.example:3333", coinAlgorithm: "SHA-256" }),
    wrong: { url: "no url at all" },
    rows: z.object({ list }).transform((body) => body.list),
  },
  { path: "/api/poolgroups", field: "name", changes: "POST", wrong: { pools: [999_999] }, rows: list },
  { path: "/api/groups", field: "name", changes: "PATCH", wrong: { parentId: 999_999 }, rows: list },
  { path: "/api/users", field: "name", changes: "POST", wrong: { groups: [999_999] }, rows: list },
  {
    path: "/api/hosts",
    field: "description",
    changes: "POST",
    more: () => ({ hostname: "rig.example" }),
    wrong: { hostname: 5 },
    rows: list,
  },
  {
    path: "/api/managedtemplates",
    field: "name",
    changes: "POST",
    wrong: { id: 999_999 },
    rows: z.object({ managedTemplateList: list }).transform((body) => body.managedTemplateList),
  },
  {
    path: "/api/miners",
    field: "name",
    changes: "PATCH",
    // Nothing listens there; they are hardly ever read.
    more: (number) => ({ address: `127.102.200.${1 + (number % 250)}:${1000 + number}`, interval: 3600 }),
    wrong: { address: "127.102.200.1:1", group: 999_999 },
    rows: z
      .object({ groupList: z.array(z.object({ minerList: list })) })
      .transform((body) => body.groupList.flatMap(({ minerList }) => minerList)),
  },
];

/** The same row for every kind; pool groups have their ids as text. */
export const namedRow = (field: string) =>
  z.looseObject({ id: z.coerce.number() }).transform((row) => ({ id: row.id, name: z.string().parse(row[field]) }));
