import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Served, serve } from "./wire.ts";

let served: Served;
beforeAll(async () => {
  served = await serve({ key: "correct-horse-battery" });
});
afterAll(() => served.server.close());

/** What a page asks a browser to load. */
const resources = (html: string): string[] =>
  [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address = ""]) => address);

test("the page opens without a key and loads everything from this server", async () => {
  const page = await served.ask("GET", "/docs");
  expect([page.status, page.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
  const addresses = resources(page.text);
  expect(addresses.length).toBeGreaterThan(3);
  for (const address of addresses) {
    expect(address).toMatch(/^\/docs\/static\/[a-z0-9.-]+$/);
    expect([address, (await served.ask("GET", address)).status]).toEqual([address, 200]);
  }
});

test("its policy lets nothing else in, and the headers of every answer stay", async () => {
  for (const path of ["/docs", "/docs/static/swagger-ui-bundle.js"]) {
    const { headers } = await served.ask("GET", path);
    expect(headers).toMatchObject({ "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" });
    const policy = headers["content-security-policy"];
    expect(policy).toMatch(/^default-src 'none'; script-src 'self';/);
    expect(policy).not.toMatch(/https?:|\*|unsafe/);
  }
});

test("it shows this server's document, and uses no external validator", async () => {
  const script = await served.ask("GET", "/docs/static/swagger-initializer.js");
  expect(script.text).toMatch(/url: resolveUrl\('\.\/json'\)/);
  expect(script.text).toMatch(/validatorUrl: null/);
  expect((await served.ask("GET", "/docs/json")).json).toEqual((await served.ask("GET", "/openapi.json")).json);
});

test("files are not sent again to a client that has them", async () => {
  const { etag = "" } = (await served.ask("GET", "/docs/static/swagger-ui.css")).headers;
  const again = await served.ask("GET", "/docs/static/swagger-ui.css", { headers: { "if-none-match": etag } });
  expect([again.status, again.text]).toEqual([304, ""]);
});

test("the file that the page is made of leads to the page", async () => {
  const { status, headers } = await served.ask("GET", "/docs/static/index.html");
  expect([status, headers.location]).toEqual([302, "/docs/"]);
});

test.each([
  ["/docs/static/nothing.js"],
  ["/docs/static/..%2f..%2fpackage.json"],
  ["/docs/static/%2e%2e"],
  ["/docs/static/a%00b"],
  ["/docs/static/index.html/../../json"],
])("%s is not a file of the page", async (path) => {
  const { status, json } = await served.ask("GET", `${path}?key=correct-horse-battery`);
  expect([path, status, json.code]).toEqual([path, 404, "not.found"]);
});

test("nothing beside the page is open, and it is only read", async () => {
  expect((await served.ask("GET", "/docs/yaml")).status).toBe(401);
  expect((await served.ask("GET", "/docs/static/../../api/miners")).status).toBe(401);
  const post = await served.ask("POST", "/docs");
  expect([post.status, post.headers.allow]).toEqual([405, "GET, HEAD, OPTIONS"]);
  const strange = await served.ask("GET", "/docs", { headers: { host: "evil.example" } });
  expect([strange.status, strange.json.code]).toEqual([421, "host.unknown"]);
});

test("the address of the server alone leads to the page, without a key", async () => {
  for (const method of ["GET", "HEAD"]) {
    const { status, headers } = await served.ask(method, "/");
    expect([method, status, headers.location]).toEqual([method, 302, "/docs"]);
  }
  const { status, headers } = await served.ask("POST", "/?key=correct-horse-battery");
  expect([status, headers.allow]).toEqual([405, "GET, HEAD, OPTIONS"]);
});

test.each(["/nothing", "/api", "/api/minerz", "/docs/static/nothing.js"])(
  "the answer for %s, which does not exist, names the page",
  async (path) => {
    const { status, json } = await served.ask("GET", `${path}?key=correct-horse-battery`);
    expect([status, json.detail]).toEqual([404, "There is nothing at this path; see /docs for the paths of this API"]);
  },
);

/** Loaded modules are counted in a process of its own, where no other test has loaded any. */
const countLoaded = `
  import { createRequire } from "node:module";
  const { serve } = await import("./wire.ts");
  const { cache } = createRequire(process.cwd() + "/x");
  const loaded = () => Object.keys(cache).some((file) => /@fastify[/\\\\]swagger/.test(file));
  const { server, ask } = await serve();
  const states = [];
  for (const path of ["/health", "/api/summary", "/openapi.json", "/docs/json", "/docs"])
    states.push([path, (await ask("GET", path)).status, loaded()]);
  console.log(JSON.stringify(states));
  await server.close();`;

test("swagger-ui is loaded when the page is asked for, and not before", () => {
  const options = { cwd: fileURLToPath(new URL(".", import.meta.url)), encoding: "utf8" } as const;
  const args = ["--disable-warning=ExperimentalWarning", "--input-type=module", "--eval", countLoaded];
  expect(JSON.parse(execFileSync(process.execPath, args, options))).toEqual([
    ["/health", 200, false],
    ["/api/summary", 200, false],
    ["/openapi.json", 200, false],
    ["/docs/json", 200, false],
    ["/docs", 200, true],
  ]);
});
