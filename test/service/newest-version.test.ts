import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { afterEach, expect, test } from "@jest/globals";
import { versionIn } from "../../src/service/newest-version.ts";
import { version } from "../../src/version.ts";
import { onTestFinished } from "../finished.ts";
import { closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

/** What GET /api/version answers with a source that answers like this. */
async function versions(answer: RequestListener): Promise<unknown> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  onTestFinished(() => server.close());
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : null;
  const bench = await openBench({
    rigs: [],
    config: { updates: { url: `http://127.0.0.1:${port}/rigbridge/latest` } },
  });
  await bench.service.settled();
  return bench.service.getVersion({}, { actor: "test" });
}

test("the newest version comes from the configured address, and is unknown if that does not answer with one", async () => {
  expect(await versions((_, response) => response.end('{"version":"9.8.7"}'))).toEqual({
    name: "Rigbridge",
    version,
    newest: "9.8.7",
  });
  expect(
    await versions((_, response) => response.end(`{"version":"9.8.7","text":"${"x".repeat(300_000)}"}`)),
  ).toMatchObject({
    newest: null,
  });
  const elsewhere: RequestListener = (request, response) =>
    request.url === "/there"
      ? response.end('{"version":"6.6.6"}')
      : response.writeHead(302, { location: "/there" }).end();
  expect(await versions(elsewhere)).toMatchObject({ newest: null });
});

test("without an address nothing is asked", async () => {
  const bench = await openBench({ rigs: [] });
  await bench.service.settled();
  expect(await bench.service.getVersion({}, { actor: "test" })).toMatchObject({ newest: null });
});

test.each([
  ['{"version":"1.2.3"}', "1.2.3"],
  ['{"tag_name":"v1.2.3-beta.1"}', "1.2.3-beta.1"],
  ['{"version":"1.2.3 <script>"}', null],
  ['{"version":3}', null],
  ["[]", null],
  ["1.2.3", null],
  ["<html>", null],
])("%s is version %j", (text, expected) => {
  expect(versionIn(text)).toBe(expected);
});
