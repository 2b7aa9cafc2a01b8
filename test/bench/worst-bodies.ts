import { connect } from "node:net";

/** What costs most to refuse, each of 1 MB at most: for an operation that its sender may use. */
export interface WorstBody {
  readonly name: string;
  readonly path: string;
  readonly body: string;
  /** Sent in chunks of a byte. */
  readonly inBytes?: true;
}

const longest = 1_000_000;
const actions = "/api/actions";

/** As many pieces as there is room for between two texts. */
function filled(start: string, piece: (index: number) => string, end: string, most = Number.POSITIVE_INFINITY): string {
  const pieces: string[] = [];
  let length = Buffer.byteLength(start + end) + 10;
  for (let index = 0; index < most; index += 1) {
    const next = piece(index);
    length += Buffer.byteLength(next) + 1;
    if (length > longest) break;
    pieces.push(next);
  }
  return start + pieces.join(",") + end;
}

const unknownNames = (count: number): string =>
  Array.from({ length: count }, (_, index) => `"name${index}":${index}`).join();

export const worstBodies: readonly WorstBody[] = [
  {
    name: "unknown names without end",
    path: actions,
    body: filled('{"action":"stop","all":true,"parameters":{', (index) => `"a${index}":1`, "}}"),
  },
  {
    name: "wrong values without end",
    path: actions,
    body: filled('{"action":"stop","all":true,"parameters":{', (index) => `"${index.toString(36)}":{}`, "}}"),
  },
  {
    name: "as many unknown names and ids as are looked at",
    path: actions,
    body: filled(
      `{"action":"stop","parameters":{${unknownNames(990)}},"miners":[`,
      (index) => `${9_000_000 + index}`,
      "]}",
      100_000,
    ),
  },
  {
    name: "ids that there are not",
    path: actions,
    body: filled('{"action":"stop","miners":[', (index) => `${1_000_000_001 + index}`, "]}", 100_000),
  },
  {
    name: "groups that there are not",
    path: actions,
    body: filled('{"action":"stop","groups":[', (index) => `${index}`, "]}", 100_000),
  },
  { name: "wrong items", path: actions, body: filled('{"action":"stop","miners":[', () => '"xxxxxx"', "]}", 100_000) },
  { name: "objects for ids", path: actions, body: filled('{"action":"stop","miners":[', () => "{}", "]}", 100_000) },
  { name: "lists without end", path: actions, body: filled('{"action":"stop","miners":[', () => "[]", "]}") },
  { name: "nested", path: actions, body: `{"action":${"[".repeat(490_000)}${"]".repeat(490_000)}}` },
  { name: "nested and broken", path: actions, body: `${'{"a":'.repeat(190_000)}` },
  { name: "escapes, broken", path: actions, body: `{"action":"${'\\"'.repeat(490_000)}` },
  { name: "escapes", path: actions, body: `{"action":"${"\\u0041".repeat(160_000)}"}` },
  { name: "lines, broken", path: actions, body: `{${"\n".repeat(990_000)}x` },
  { name: "a number", path: actions, body: `{"action":"stop","all":true,"delay":${"7".repeat(990_000)}}` },
  { name: "a string", path: "/api/pools", body: `{"url":"${"x".repeat(990_000)}"}` },
  { name: "a string as long as is looked at", path: "/api/pools", body: `{"url":"${"a".repeat(19_999)}@"}` },
  {
    name: "letters that are written out 18-fold",
    path: "/api/users",
    body: `{"name":"${"\ufdfa".repeat(19_990)}","groups":[${Array.from({ length: 1_000 }, (_, id) => id + 9).join()}]}`,
  },
  {
    name: "names as long as are looked at",
    path: "/api/miners",
    body: filled("{", (index) => `"${String(index).padStart(19_990, "n")}":1`, "}"),
  },
  {
    name: "a plug with all that a plug has not",
    path: "/api/miners",
    body: `{"address":"127.0.0.1:9","supply":{"type":"mqtt","topics":{${unknownNames(900)}}}}`,
  },
  { name: "a byte in each chunk", path: actions, body: " ".repeat(100_000), inBytes: true },
];

export interface Sending {
  readonly port: number;
  readonly key: string;
  /** A local address: each client may send only so much. */
  readonly from: string;
}

/** Sends a body on a connection of its own; the status of the answer. */
export function sendBody({ path, body, inBytes }: WorstBody, { port, key, from }: Sending): Promise<number> {
  const framing = inBytes ? "transfer-encoding: chunked" : `content-length: ${Buffer.byteLength(body)}`;
  const head = `POST ${path} HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${key}\r\nconnection: close\r\ncontent-type: application/json\r\n`;
  const sent = inBytes ? `${[...body].map((byte) => `1\r\n${byte}\r\n`).join("")}0\r\n\r\n` : body;
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, localAddress: from });
    let answer = "";
    socket.setEncoding("latin1").on("data", (part: string) => {
      answer += part;
    });
    // Who gets no answer is told below.
    socket.on("error", () => undefined);
    socket.on("close", () => {
      const status = Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
      if (Number.isNaN(status)) reject(new Error(`no answer to the body of ${path}`));
      else resolve(status);
    });
    socket.write(`${head}${framing}\r\n\r\n${sent}`);
  });
}
