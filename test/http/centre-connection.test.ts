import { request } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, expect, test } from "@jest/globals";
import { pino } from "pino";
import { Config } from "../../src/config/index.ts";
import { agentPath } from "../../src/contract/agent.ts";
import { centreActorHeader } from "../../src/contract/centre-actor.ts";
import type { Privilege } from "../../src/contract/resources.ts";
import { siteWindowBytes } from "../../src/contract/site-connection.ts";
import { startHttpServer } from "../../src/http/index.ts";
import { channelPair } from "../async/channel-pair.ts";
import { onTestFinished } from "../finished.ts";
import { caller, closeBenches, openBench } from "../service/bench.ts";

afterEach(closeBenches);

/** A service with a key, asked over connections of its centre. */
async function serve() {
  const hooks = [{ name: "doorbell", secret: "secret-of-the-doorbell" }];
  const bench = await openBench({ rigs: [{ kind: "axeos", warm: true }], config: { hooks } });
  const rig = await bench.add(bench.rig(0).address, { driver: "axeos" });
  const settings = Config.parse({ http: { port: 0, key: "key-of-the-service" } }).http;
  const server = await startHttpServer({
    service: bench.service,
    settings,
    log: pino({ level: "silent" }),
    version: "1",
  });
  onTestFinished(() => server.close());
  const ask = async (privilege: Privilege, method: string, path: string, headers: Record<string, string> = {}) => {
    const { one, two } = channelPair(siteWindowBytes);
    server.serveCentre(two, { name: "office", privilege });
    const asked = request({ method, path, headers, createConnection: () => one });
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number | undefined; body: string }>();
    asked
      .on("response", (response) =>
        text(response).then((body) => resolve({ status: response.statusCode, body }), reject),
      )
      .on("error", reject)
      .end();
    return promise;
  };
  return { bench, rig, ask };
}

test("a request of the centre needs no key and no name of this host, and has the privilege of its connection", async () => {
  const { bench, rig, ask } = await serve();
  const restart = `/api/miners/${rig}?action=locate&on=true`;
  const host = { host: "any.name.of.the.centre" };
  const list = await ask("view", "GET", "/api/miners", host);
  expect([list.status, list.body.includes(`"id":${rig},`)]).toEqual([200, true]);
  expect((await ask("view", "POST", restart)).status).toBe(403);
  expect((await ask("control", "POST", restart, { [centreActorHeader]: "anna" })).status).toBe(200);
  expect((await ask("control", "GET", "/api/users")).status).toBe(403);
  expect((await ask("administrator", "GET", "/api/users")).status).toBe(200);
  const session = JSON.parse((await ask("control", "GET", "/api/session")).body);
  expect(session).toMatchObject({ by: "key", user: { id: null, privilege: "control", sees: "all" } });
  const { commandList } = await bench.service.listCommands({}, caller);
  expect(commandList.map(({ actor }) => actor)).toEqual(["anna for office"]);
});

test("an answer that is longer than a window comes whole", async () => {
  const { ask } = await serve();
  const { status, body } = await ask("view", "GET", "/openapi.json");
  expect([status, body.length > siteWindowBytes]).toEqual([200, true]);
  expect(JSON.parse(body)).toMatchObject({ info: { "x-rigbridge": true } });
});

test("the centre is no web hook without its secret, and no agent", async () => {
  const { ask } = await serve();
  const hook = "/api/hooks/doorbell";
  expect((await ask("administrator", "POST", hook)).status).not.toBe(204);
  expect((await ask("administrator", "POST", hook, { "x-hook-secret": "wrong" })).status).not.toBe(204);
  expect((await ask("administrator", "GET", agentPath, { authorization: "Bearer x" })).status).toBe(400);
});
