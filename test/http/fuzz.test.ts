import { afterAll, beforeAll, expect, test } from "@jest/globals";
import fc from "fast-check";
import { operations } from "../../src/contract/operations.ts";
import { type Served, serve } from "./wire.ts";

let served: Served;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.server.close());

const nasty = fc.constantFrom("0", "7", "-1", "%00", "%zz", "..%2f", "__proto__", "1e400", "%F0%9F%92%A9", "a", "");
const path = fc
  .tuple(fc.constantFrom(...Object.values(operations)), fc.array(nasty, { minLength: 2, maxLength: 2 }))
  .map(([operation, [first = "", second = ""]]) => ({
    method: operation.method,
    target: operation.path.replace(/:\w+/, first).replace(/:\w+/, second),
  }));
const name = fc.constantFrom(
  "action",
  "pool_id",
  "user_id",
  "key",
  "profit",
  "since",
  "miner",
  "__proto__",
  "a[b]",
  "%zz",
);
const query = fc
  .array(fc.tuple(name, fc.oneof(nasty, fc.constantFrom("reboot", "set", "single"), fc.webFragments())))
  .map((pairs) => pairs.map(([key, value]) => `${key}=${value}`).join("&"));
const type = fc.constantFrom("application/json", "application/json; charset=latin1", "text/plain", "a/b; c", "x");
const body = fc.oneof(
  fc.json(),
  fc.string(),
  fc
    .dictionary(
      fc.constantFrom("id", "name", "url", "address", "tags", "location", "supply", "parentId", "pools", "constructor"),
      fc.oneof(fc.jsonValue(), fc.constantFrom(0, 1, "a", "stratum+tcp://a:1", null, [], [1], {})),
    )
    .map((value) => JSON.stringify(value)),
);

test("no request, whatever it holds, is a fault of the service", async () => {
  const before = Reflect.ownKeys(Object.prototype);
  const request = fc.record({ path, query, type, body });
  await fc.assert(
    fc.asyncProperty(request, async ({ path: { method, target }, query, type, body }) => {
      const what = method === "GET" ? {} : { headers: { "content-type": type }, body };
      const answer = await served.ask(method, `${target}?${query}`, what);
      expect(answer.status).toBeLessThan(500);
      if (answer.status >= 400)
        expect(answer.json).toMatchObject({
          status: answer.status,
          code: expect.any(String),
          detail: expect.any(String),
        });
    }),
    { numRuns: 1000 },
  );
  expect(Reflect.ownKeys(Object.prototype)).toEqual(before);
});
