import { afterEach, expect, test } from "@jest/globals";
import { pino } from "pino";
import { Config } from "../../src/config/index.ts";
import { startHttpServer } from "../../src/http/index.ts";
import { onTestFinished } from "../finished.ts";
import { closeBenches, openBench } from "../service/bench.ts";

afterEach(closeBenches);

const secret = "secret-of-the-doorbell";
const hooks = [{ name: "doorbell", secret }];

async function serve() {
  const bench = await openBench({ config: { hooks } });
  const received: unknown[] = [];
  const service = { ...bench.service, receiveHook: (name: string, payload: unknown) => received.push([name, payload]) };
  const settings = Config.parse({ http: { port: 0, key: "key-of-the-service" } }).http;
  const server = await startHttpServer({ service, settings, log: pino({ level: "silent" }), version: "1.2.3" });
  onTestFinished(() => server.close());
  const { host, port } = server.address;
  const send = async (path: string, given: string | undefined, body = "", method = "POST") => {
    const headers = given === undefined ? {} : { "x-hook-secret": given };
    const response = await fetch(`http://${host}:${port}${path}`, {
      method,
      headers,
      ...(method === "GET" ? {} : { body }),
    });
    return response.status;
  };
  return { send, received };
}

test("a web hook with its own secret is taken, as JSON or as text", async () => {
  const { send, received } = await serve();
  expect(await send("/api/hooks/doorbell", secret, '{"pressed": true}')).toBe(204);
  expect(await send("/api/hooks/doorbell", secret, "ding dong")).toBe(204);
  expect(await send("/api/hooks/doorbell", secret)).toBe(204);
  expect(received).toEqual([
    ["doorbell", { pressed: true }],
    ["doorbell", "ding dong"],
    ["doorbell", ""],
  ]);
});

test("its secret opens nothing else, and no other key opens it", async () => {
  const { send, received } = await serve();
  expect(await send("/api/hooks/doorbell", undefined)).toBe(401);
  expect(await send("/api/hooks/doorbell", "wrong")).toBe(401);
  expect(await send("/api/hooks/other", secret)).toBe(401);
  expect(await send("/api/hooks/doorbell?key=key-of-the-service", undefined)).toBe(401);
  expect(await send(`/api/notifications?action=ack_all&key=${secret}`, secret)).toBe(401);
  expect(await send("/api/hooks/doorbell", secret, "", "GET")).toBe(401);
  expect(await send("/api/hooks/doorbell?key=key-of-the-service", secret, "", "GET")).toBe(405);
  expect(await send("/api/hooks/doorbell", secret, "x".repeat(4097))).toBe(413);
  expect(received).toEqual([]);
});

test("wrong secrets count like wrong API keys, and the right one still passes", async () => {
  const { send } = await serve();
  for (let count = 0; count < 5; count += 1) expect(await send("/api/hooks/doorbell", `wrong ${count}`)).toBe(401);
  for (let count = 0; count < 5; count += 1)
    expect(await send(`/api/summary?key=wrong-key-${count}`, undefined, "", "GET")).toBe(401);
  expect(await send("/api/hooks/doorbell", "wrong")).toBe(429);
  expect(await send("/api/summary?key=wrong-key", undefined, "", "GET")).toBe(429);
  expect(await send("/api/hooks/doorbell", secret)).toBe(204);
});
