import { afterEach, expect, test } from "@jest/globals";
import { pino } from "pino";
import { connectService } from "../../src/client/index.ts";
import { HttpSettings } from "../../src/config/schema.ts";
import { startHttpServer } from "../../src/http/index.ts";
import { problem } from "../errors.ts";
import { onTestFinished } from "../finished.ts";
import { freePort } from "../free-port.ts";
import { caller, closeBenches, openBench } from "../service/bench.ts";
import { until } from "../until.ts";
import { answering, closeServers, sendJson } from "./servers.ts";

afterEach(async () => {
  await closeServers();
  await closeBenches();
});

/** A service with a group of this name. */
async function startNamed(name: string) {
  const { service } = await openBench();
  await service.addGroup({ name, parentId: 0 }, caller);
  const settings = HttpSettings.parse({ port: 0 });
  const server = await startHttpServer({ service, settings, log: pino({ level: "silent" }), version: "1" });
  let isOpen = true;
  const close = async (): Promise<void> => {
    if (isOpen) await server.close();
    isOpen = false;
  };
  onTestFinished(close);
  return { url: server.url, service, close };
}

test("the first service that answers is used, and the next one once that has ended: by reads, writes and events", async () => {
  const [one, two] = [await startNamed("one"), await startNamed("two")];
  const nobody = `http://127.0.0.1:${await freePort()}`;
  const client = connectService({ url: `${nobody}, ${one.url},${two.url}`, timeout: 60 });
  onTestFinished(() => client.close());
  const groups = async () => (await client.listGroups({}, caller)).map(({ name }) => name);
  expect(await groups()).toEqual(["one"]);
  const closing = new AbortController();
  const events: string[] = [];
  const watching = (async () => {
    for await (const { type } of client.watchEvents({}, caller, closing.signal)) events.push(type);
  })();
  onTestFinished(async () => {
    closing.abort();
    await watching;
  });
  await one.service.addMiner({ address: "127.0.0.1:9" }, caller);
  await until(() => events.includes("miner"), "an event of the first service");

  await one.close();
  await client.addGroup({ name: "three", parentId: 0 }, caller);
  expect(await groups()).toEqual(["two", "three"]);
  await until(() => events.includes("reset"), "the watcher to start again at the second service");
  events.length = 0;
  await two.service.addMiner({ address: "127.0.0.1:9" }, caller);
  await until(() => events.includes("miner"), "an event of the second service");
});

test("a standby without an active service passes a write on to the next URL, with the same key", async () => {
  const keys: unknown[] = [];
  const document = {
    info: { "x-rigbridge": true },
    paths: { "/api/miners/{id}": { post: { operationId: "minerAction" } } },
    components: { parameters: { "Idempotency-Key": {} } },
  };
  const noActive = { type: "urn:rigbridge:problem:service.no.active", code: "service.no.active", detail: "None" };
  const start = (answer: object, status: number) =>
    answering((request, response) => {
      if (request.method === "GET") return sendJson(response, document);
      keys.push(request.headers["idempotency-key"]);
      sendJson(response, answer, status);
    });
  const [standby, active] = [await start(noActive, 503), await start({ success: true, message: "done" }, 200)];
  const client = connectService({ url: [standby.url, active.url] });
  onTestFinished(() => client.close());
  const reply = await client.minerAction({ id: 7, action: "reboot" }, caller);
  expect(reply.message).toBe("done");
  await client.minerAction({ id: 7, action: "reboot" }, caller);
  expect(keys).toEqual([keys[0], keys[0], expect.any(String)]);
  expect(keys[2]).not.toBe(keys[0]);
});

test("all invalid URLs are named at once", async () => {
  const connect = async (url: string | string[]) => connectService({ url });
  const { errors } = await problem(connect(["http://127.0.0.1", "ftp://x", "nothing"]));
  expect(errors.map(({ path }) => path)).toEqual(["url[1]", "url[2]"]);
  expect((await problem(connect(" , "))).errors).toEqual([expect.objectContaining({ path: "url" })]);
});
