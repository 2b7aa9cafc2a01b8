import type { Socket } from "node:net";
import { describe, expect, test } from "@jest/globals";
import { type LineTransport, lineTransport } from "../../../src/link/transports/lines.ts";
import { limits } from "../../until.ts";
import { closedPort, serve, type TinyServer } from "../servers.ts";

const deadline = (ms = limits.waitMs): AbortSignal => AbortSignal.timeout(ms);

/** The one that was started last. */
let server: TinyServer | undefined;

async function at(answer: (socket: Socket, request: string) => void): Promise<LineTransport> {
  server = await serve(answer);
  return lineTransport("127.0.0.1", server.port);
}

/** Answers every line of every connection. */
const everyLine =
  (answer: (request: string) => string, seen: string[] = []) =>
  (socket: Socket, first: string) => {
    const take = (text: string): void => {
      seen.push(text);
      socket.write(answer(text));
    };
    take(first);
    socket.on("data", (chunk) => take(chunk.toString()));
  };

/** Until the other side has had enough. */
function endless(socket: Socket, text: string): void {
  socket.write(text, (error) => {
    if (!error) endless(socket, text);
  });
}

const one = async (answer: (socket: Socket, request: string) => void): Promise<unknown> =>
  (await at(answer)).ask([{ id: 1 }], deadline()).then(([reply]) => reply);

describe("lines of JSON", () => {
  test("are sent over one connection, each once the one before it is answered", async () => {
    const seen: string[] = [];
    const lines = await at(everyLine((request) => `{"to":${request.trim()}}\n`, seen));
    const replies = await lines.ask([{ id: 1 }, { id: 2 }, { id: 3 }], deadline());
    expect(replies.map(({ value }) => value)).toEqual([{ to: { id: 1 } }, { to: { id: 2 } }, { to: { id: 3 } }]);
    expect(seen).toEqual(['{"id":1}\n', '{"id":2}\n', '{"id":3}\n']);
    expect(server?.connections()).toBe(1);
  });

  test.each<[string, (socket: Socket) => void]>([
    ["a line end, and an open connection", (socket) => socket.write('{"a":1}\n')],
    ["the end of the connection", (socket) => socket.end('{"a":1}')],
    ["neither", (socket) => socket.write('{"a":1}')],
    ["a NUL", (socket) => socket.write('{"a":1}\0')],
    ["line ends inside", (socket) => socket.write('{\n"a":\n1\n}\n')],
    [
      "pieces",
      (socket) => {
        socket.write('{"a"', () => setImmediate(() => socket.write(":1}\n")));
      },
    ],
  ])("may be answered with %s", async (_, answer) => {
    await expect(one(answer)).resolves.toEqual({ value: { a: 1 }, notes: [] });
  });

  test("that leave the connection closed are an error that says so", async () => {
    const failure = one((socket) => socket.end());
    await expect(failure).rejects.toMatchObject({
      code: "rig.garbled",
      message: expect.stringContaining("may require a password"),
    });
  });

  test("of which a later one is left open fail at the deadline", async () => {
    const lines = await at(everyLine((request) => (request.includes("1") ? "{}\n" : "")));
    await expect(lines.ask([{ id: 1 }, { id: 2 }], deadline(200))).rejects.toMatchObject({ code: "rig.timeout" });
  });

  test.each<[string, (socket: Socket) => void]>([
    ["no JSON", (socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")],
    ["half of it", (socket) => socket.end('{"a":')],
    ["more than a megabyte", (socket) => endless(socket, `"${"x".repeat(100_000)}",`)],
    ["line ends without end", (socket) => endless(socket, "[\n".repeat(10_000))],
  ])("answered with %s fail", async (_, answer) => {
    await expect(one(answer)).rejects.toMatchObject({ code: "rig.garbled" });
  });

  test("to a port where nothing listens fail", async () => {
    const lines = lineTransport("127.0.0.1", await closedPort());
    await expect(lines.ask([{}], deadline())).rejects.toMatchObject({ code: "rig.unreachable" });
  });
});

describe("a command in plain text", () => {
  const text = async (answer: (socket: Socket, request: string) => void): Promise<string> =>
    (await at(answer)).text("summary", deadline());

  test("is sent without a line end", async () => {
    await expect(text((socket, request) => socket.end(`${request}|\0`))).resolves.toBe("summary|");
  });

  test.each<[string, string, (socket: Socket) => void]>([
    ["a NUL, and an open connection", "A=1|", (socket) => socket.write("A=1|\0")],
    ["the end of the connection", "A=1", (socket) => socket.end("A=1")],
    ["a bar", "A=1|", (socket) => socket.write("A=1|")],
    ["nothing but a NUL", "", (socket) => socket.write("\0")],
  ])("may be answered with %s", async (_, words, answer) => {
    await expect(text(answer)).resolves.toBe(words);
  });

  test("that leaves the connection closed is an error", async () => {
    await expect(text((socket) => socket.end())).rejects.toMatchObject({ code: "rig.garbled" });
  });
});

test("closing cancels what is open, and all that comes later", async () => {
  const lines = await at(() => {});
  const open = lines.ask([{}], deadline());
  lines.close();
  await expect(open).rejects.toMatchObject({ code: "rig.timeout" });
  await expect(lines.text("summary", deadline())).rejects.toMatchObject({ code: "rig.timeout" });
});
