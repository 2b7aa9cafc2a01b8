import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { closeContexts, newPage, testInBrowser } from "../chromium.ts";
import { reverseProxy } from "./reverse-proxy.ts";
import { type Served, serve } from "./wire.ts";

const key = "key-of-the-service-1";
const html = { headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" } };

/** A dashboard that logs in and says who it is. */
const script = `// ${"x".repeat(2_000)}
const body = JSON.stringify({ key: "${key}" });
const headers = { "content-type": "application/json" };
const opened = await fetch("api/session", { method: "POST", headers, body });
const read = await (await fetch("api/session")).json();
const acted = await fetch("api/miners/1?action=stop", { method: "POST" });
const gone = await fetch("api/session", { method: "DELETE" });
const after = await fetch("api/session");
document.body.textContent = [opened.status, read.by, acted.status, gone.status, after.status, document.cookie].join(" ");
`;
const page = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>a dashboard</title>
<link rel="icon" href="./icon.svg"><script type="module" src="./assets/app-1a2b.js"></script></head><body></body></html>`;

let folder: string;
let at: Served;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "rigbridge-web-"));
  mkdirSync(join(folder, "assets"));
  const files: Record<string, string | Buffer> = {
    "index.html": page,
    "manifest.webmanifest": '{"name":"Rigbridge"}',
    "icon.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>",
    "assets/app-1a2b.js": script,
    "assets/app-1a2b.js.br": brotliCompressSync(script),
    "assets/app-1a2b.js.gz": gzipSync(script),
    // As the build leaves it: without a plain copy.
    "assets/packed-2b3c.js.br": brotliCompressSync(script),
    "assets/packed-2b3c.js.gz": gzipSync(script),
    "assets/photo-9f.png": Buffer.alloc(5_000, 7),
    "secret.pem": "not served",
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  at = await serve({ key, origins: ["https://panel.example"], hosts: ["home.example"] }, {}, "127.0.0.1", {
    web: folder,
  });
});
afterAll(async () => {
  await closeContexts();
  await at.server.close();
  rmSync(folder, { recursive: true });
});

describe("a browser without a key", () => {
  test.each([
    ["/", "./", 200],
    ["/?key=x#y", "./", 200],
    ["/rigs", "./", 200],
    ["/RIGS", "./", 200],
    ["/rigs/", "../", 200],
    ["/rigs/12", "../", 200],
    ["/rigs/12/history", "../../", 200],
    ["/family", "./", 200],
    ["/coins/BTC", "../", 200],
    ["/nowhere", "./", 404],
    ["/nowhere/at/all", "../../", 404],
  ])("gets %s as a page, with the way back to the top", async (path, base, status) => {
    const answer = await at.ask("GET", path, html);
    expect([answer.status, answer.headers["content-type"]]).toEqual([status, "text/html; charset=utf-8"]);
    expect(answer.text).toContain(`<head><base href="${base}"><meta`);
    expect(answer.headers["cache-control"]).toBe("no-cache");
    expect(answer.headers.vary).toMatch(/accept-encoding.*\baccept$/);
    const again = { headers: { ...html.headers, "if-none-match": answer.headers.etag ?? "" } };
    expect((await at.ask("GET", path, again)).status).toBe(304);
    const head = await at.ask("HEAD", path, html);
    expect([head.status, head.text, head.headers["content-length"]]).toEqual([
      status,
      "",
      String(Buffer.byteLength(answer.text)),
    ]);
  });

  test("may load nothing from elsewhere, and only listed origins may frame a page", async () => {
    const { headers } = await at.ask("GET", "/rigs", html);
    const policy = headers["content-security-policy"] ?? "";
    expect(policy).toContain("default-src 'self';");
    expect(policy).toMatch(/; frame-ancestors 'self' https:\/\/panel\.example$/);
    expect(policy).not.toMatch(/unsafe|\*/);
    expect(headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
      "permissions-policy": expect.stringContaining("camera=(self)"),
    });
    // Elsewhere than on this machine, browsers take it by https only.
    const inNetwork = await at.ask("GET", "/", { headers: { ...html.headers, host: "192.168.1.2" } });
    expect([inNetwork.status, inNetwork.headers["cross-origin-opener-policy"]]).toEqual([200, undefined]);
  });

  test.each(["app-1a2b", "packed-2b3c"])(
    "gets %s.js of the page as it was compressed, and keeps it for a year",
    async (name) => {
      for (const [encoding, length] of [
        ["br", brotliCompressSync(script).length],
        ["gzip", gzipSync(script).length],
        ["identity", script.length],
      ] as const) {
        const { headers, bytes } = await at.ask("GET", `/assets/${name}.js`, {
          headers: { "accept-encoding": encoding },
        });
        expect([headers["content-encoding"] ?? "identity", bytes.length]).toEqual([encoding, length]);
        expect(headers["cache-control"]).toBe("public, max-age=31536000, immutable");
        expect(headers["content-type"]).toBe("text/javascript; charset=utf-8");
        if (encoding === "br") expect(brotliDecompressSync(bytes).toString()).toBe(script);
        if (encoding === "identity") expect(bytes.toString()).toBe(script);
      }
      const photo = await at.ask("GET", "/assets/photo-9f.png", { headers: { "accept-encoding": "br" } });
      expect([photo.headers["content-encoding"], photo.bytes.length]).toEqual([undefined, 5_000]);
      const icon = await at.ask("GET", "/icon.svg");
      expect([icon.status, icon.headers["content-type"], icon.headers["cache-control"]]).toEqual([
        200,
        "image/svg+xml",
        "no-cache",
      ]);
      const manifest = await at.ask("GET", "/manifest.webmanifest");
      expect(manifest.headers["content-type"]).toBe("application/manifest+json; charset=utf-8");
    },
  );

  test.each([
    ["/assets/other.js", 404],
    ["/assets/app-1a2b.js.br", 404],
    ["/assets/..%2findex.html", 401],
    ["/assets/../secret.pem", 401],
    ["/assets/%2e%2e/secret.pem", 401],
    ["/secret.pem", 401],
    ["/index.html", 401],
    ["//evil.example", 401],
    ["/api/nothing", 401],
    ["/api/miners", 401],
    ["/webapi/miners", 401],
    ["/metrics", 401],
    [`/rigs${"/x".repeat(6)}`, 401],
    [`/rigs/${"x".repeat(500)}`, 401],
  ])("gets nothing at %s, accepting HTML or not", async (path, status) => {
    for (const accept of ["text/html", "*/*"]) {
      const answer = await at.ask("GET", path, { headers: { accept } });
      expect([answer.status, answer.headers["content-type"]]).toEqual([
        status,
        "application/problem+json; charset=utf-8",
      ]);
    }
  });

  test("cannot be led here by a name that is not the service's", async () => {
    for (const path of ["/", "/rigs", "/assets/app-1a2b.js"]) {
      const { status, json } = await at.ask("GET", path, { headers: { ...html.headers, host: "evil.example" } });
      expect([status, json.code]).toEqual([421, "host.unknown"]);
    }
  });
});

test("a program that accepts no HTML gets what it always got", async () => {
  const top = await at.ask("GET", "/");
  expect([top.status, top.headers.location]).toEqual([302, "/docs"]);
  expect((await at.ask("GET", "/rigs")).json.code).toBe("key.missing");
  expect((await at.ask("GET", "/rigs", { headers: { "x-api-key": key } })).json.code).toBe("not.found");
  const post = await at.ask("POST", "/rigs", { headers: { ...html.headers, "x-api-key": key } });
  expect([post.status, post.json.code]).toEqual([404, "not.found"]);
  const json = await at.ask("GET", "/health", html);
  expect(json.json).toMatchObject({ status: "ok" });
});

test("a checkout that is not built says so on one page, and what to do", async () => {
  const bare = await serve({}, {}, "127.0.0.1", { web: join(folder, "nothing-here") });
  for (const path of ["/", "/rigs/12"]) {
    const { status, text, headers } = await bare.ask("GET", path, html);
    expect([status, headers["content-type"]]).toEqual([503, "text/html; charset=utf-8"]);
    expect(text).toContain("npm run build");
  }
  expect((await bare.ask("GET", "/api/summary")).status).toBe(200);
  await bare.server.close();
});

test("an update that replaces the dashboard of a running service is served as a whole", async () => {
  const web = mkdtempSync(join(tmpdir(), "rigbridge-web-"));
  const build = (version: string) => {
    mkdirSync(join(web, "assets"));
    writeFileSync(join(web, "index.html"), page.replace("app-1a2b", `app-${version}`));
    writeFileSync(join(web, "icon.svg"), `<svg id="${version}"/>`);
    for (const name of ["app", "read", "unread"]) writeFileSync(join(web, "assets", `${name}-${version}.js`), version);
  };
  build("old");
  const running = await serve({}, {}, "127.0.0.1", { web });
  const shown = async (path: string) => {
    const { status, text } = await running.ask("GET", path, html);
    return [status, text];
  };
  expect(await shown("/rigs")).toEqual([200, expect.stringContaining("app-old.js")]);
  for (const name of ["app", "read"]) expect(await shown(`/assets/${name}-old.js`)).toEqual([200, "old"]);
  expect(await shown("/icon.svg")).toEqual([200, '<svg id="old"/>']);

  renameSync(join(web, "assets"), join(web, "before"));
  rmSync(join(web, "index.html"));
  expect((await shown("/rigs"))[0]).toBe(503);
  for (const name of ["app", "read", "unread"]) expect((await shown(`/assets/${name}-old.js`))[0]).toBe(404);

  build("new");
  expect(await shown("/rigs")).toEqual([200, expect.stringContaining("app-new.js")]);
  expect(await shown("/assets/app-new.js")).toEqual([200, "new"]);
  expect(await shown("/icon.svg")).toEqual([200, '<svg id="new"/>']);
  expect((await shown("/assets/unread-old.js"))[0]).toBe(404);
  expect((await shown(`/assets/${"x".repeat(400)}.js`))[0]).toBe(404);
  expect((await shown("/assets/a.b.js"))[0]).toBe(404);
  await running.server.close();
  rmSync(web, { recursive: true });
});

describe("in a real browser, a page", () => {
  testInBrowser.each<[string, string, Record<string, string>]>([
    ["a proxy that removes a prefix", "/a/b/", {}],
    ["Home Assistant's ingress", "/api/hassio_ingress/token/", { "x-ingress-path": "/api/hassio_ingress/token" }],
    ["no proxy at all", "/", {}],
  ])("behind %s loads, logs in, acts and logs out", async (_how, prefix, headers) => {
    const proxy = await reverseProxy(at.port, prefix, headers);
    const browser = await newPage(400, 300);
    const troubles: string[] = [];
    browser.on("pageerror", (error) => troubles.push(error.message));
    browser.on("console", (message) => {
      // The last request is refused on purpose.
      if (message.type() === "error" && !message.text().includes("401")) troubles.push(message.text());
    });
    for (const path of ["", "rigs", "rigs/12"]) {
      await browser.goto(proxy.url + path);
      await browser.locator("body", { hasText: /\d/ }).waitFor({ state: "attached" });
      expect(await browser.textContent("body")).toBe("201 session 200 204 401 ");
      expect(await browser.evaluate("document.baseURI")).toBe(proxy.url);
    }
    expect(troubles).toEqual([]);
    await browser.close();
    proxy.close();
  });
});
