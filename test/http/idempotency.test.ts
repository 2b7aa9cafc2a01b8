import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { type Served, serve } from "./wire.ts";

let served: Served;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.server.close());
beforeEach(() => {
  served.calls.length = 0;
});

const key = (value: string) => ({ headers: { "Idempotency-Key": value } });

test("a write passes its key on, and a read ignores it", async () => {
  expect((await served.ask("DELETE", "/api/pools/3", key('"one"'))).status).toBe(200);
  expect((await served.ask("GET", "/api/pools/3", key("two words"))).status).toBe(200);
  expect(served.calls).toMatchObject([
    { name: "deletePool", caller: { idempotency: { key: "one" } } },
    { name: "getPool", caller: { actor: "http" } },
  ]);
  expect(served.calls[1]?.caller).not.toHaveProperty("idempotency");
});

test("a key that is malformed or given twice is refused before anything is done, with the header's name", async () => {
  const malformed = await served.ask("DELETE", "/api/pools/3", key("two words"));
  expect(malformed).toMatchObject({ status: 400, json: { code: "input.invalid" } });
  expect(malformed.json.detail).toContain("Idempotency-Key");
  const twice = await served.raw(
    "DELETE /api/pools/3 HTTP/1.1\r\nHost: 127.0.0.1\r\nIdempotency-Key: a\r\nIdempotency-Key: b\r\nConnection: close\r\n\r\n",
  );
  expect(twice).toMatch(/^HTTP\/1\.1 400 .*idempotency-key is given more than once/s);
  expect(served.calls).toEqual([]);
});
