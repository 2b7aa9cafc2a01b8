import { createServer, get, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { expect, test } from "@jest/globals";
import { pour } from "../../src/http/encoded.ts";
import { onTestFinished } from "../finished.ts";

const kilobytes = (letter: string, ...sizes: readonly number[]): Buffer[] =>
  sizes.map((size) => Buffer.alloc(size * 1024, letter));

test("large answers at the same time and after one another are each their own, whatever their chunks", async () => {
  const answers = [
    kilobytes("a", ...new Array<number>(3_000).fill(6)),
    kilobytes("b", 1, 700, 2, 900, 3),
    kilobytes("c", ...new Array<number>(180).fill(100)),
    kilobytes("d", ...new Array<number>(50).fill(3)),
    kilobytes("e", 2, 3),
  ];
  const server = createServer((request, response) => {
    const chunks = answers[Number(request.url?.slice(1))] ?? [];
    void pour({ etag: "", chunks, length: Buffer.concat(chunks).length }, response);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const begun = (index: number): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      get({ host: "127.0.0.1", port, path: `/${index}`, agent: false }, resolve).on("error", reject);
    });
  for (let round = 0; round < 3; round += 1) {
    // None is read before all have begun, so that what is written waits for the readers.
    const replies = await Promise.all(answers.map((_, index) => begun(index)));
    const got = await Promise.all(replies.map((reply) => buffer(reply)));
    expect(got.map((bytes, index) => bytes.equals(Buffer.concat(answers[index] ?? [])))).toEqual(
      answers.map(() => true),
    );
  }
});
