import { createServer, type Server } from "node:http";
import { afterAll, beforeAll, expect } from "@jest/globals";
import type { Page } from "playwright-core";
import { closeContexts, newPage, testInBrowser as test } from "../chromium.ts";
import { type Dashboard, startDashboard } from "./dashboard.ts";

const key = "key-of-the-service-1";
const rig = 1_000_000_001;
const caller = { actor: "test" };

let dashboard: Dashboard;
let others: Server;
let port: number;

/** A page of another site that does all it can with the session of its visitor. */
const attack = (service: string): string => `<!doctype html><title>another site</title>
<iframe name="into"></iframe><iframe name="frame" src="${service}/"></iframe>
<form id="plain" method="post" target="into" enctype="text/plain" action="${service}/api/miners/${rig}?action=stop"></form>
<form id="usual" method="post" target="into" action="${service}/api/pools"><input name="url" value="a.example:1"></form>
<script type="module">
  const results = [];
  const attempt = (path, init) =>
    fetch("${service}/" + path, { credentials: "include", ...init })
      .then((answer) => answer.text(), () => "")
      .then((text) => results.push(text));
  const json = { "content-type": "application/json" };
  await attempt("api/miners/${rig}?action=stop", { method: "POST" });
  await attempt("api/miners/${rig}?action=stop", { method: "POST", mode: "no-cors", body: "{}" });
  await attempt("api/pools", { method: "POST", headers: json, body: '{"url":"a.example:1"}' });
  await attempt("api/session", { method: "DELETE" });
  await attempt("api/session", {});
  await attempt("api/miners", {});
  for (const id of ["plain", "usual"]) {
    const sent = new Promise((done) => { document.querySelector("[name=into]").onload = done; });
    document.getElementById(id).submit();
    await sent;
  }
  let frame = "";
  try { frame = document.querySelector("[name=frame]").contentDocument?.body?.textContent ?? ""; } catch {}
  document.body.dataset.done = JSON.stringify([...results, frame]);
</script>`;

beforeAll(async () => {
  dashboard = await startDashboard({
    rigs: [{ name: "Attic", rig: { kind: "axeos", warm: true } }],
    config: { http: { key } },
  });
  others = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/html" }).end(attack(dashboard.url));
  });
  // Both names: localhost is another site, 127.0.0.1 with another port is the same site, which gets the cookie.
  await new Promise<void>((resolve) => others.listen(0, "127.0.0.1", resolve));
  const bound = others.address();
  port = typeof bound === "object" && bound !== null ? bound.port : 0;
});

afterAll(async () => {
  others?.close();
  others?.closeAllConnections();
  await dashboard?.close();
  await closeContexts();
});

const statusOf = (page: Page, path: string, method = "GET"): Promise<number> =>
  page.evaluate(async ([to, by]) => (await fetch(to, { method: by })).status, [path, method] as const);

test.each(["localhost", "127.0.0.1"])("a page of another origin on %s does and reads nothing", async (host) => {
  const { page, close } = await dashboard.visit("rigs", { key });
  await page.getByText("Attic").first().waitFor();
  const evil = await newPage(800, 600);
  await evil.context().addCookies(await page.context().cookies());
  const sent: string[] = [];
  evil.on("request", (request) => sent.push(`${request.method()} ${new URL(request.url()).pathname}`));
  await evil.goto(`http://${host}:${port}/`);
  await evil.locator("body[data-done]").waitFor({ state: "attached" });
  const read = await evil.locator("body").getAttribute("data-done");
  expect(JSON.parse(read ?? "")).toEqual(Array.from({ length: 7 }, () => ""));
  expect(sent.filter((each) => each.startsWith("POST")).length).toBeGreaterThanOrEqual(4);
  const { commandList } = await dashboard.service.listCommands({}, caller);
  expect(commandList.filter(({ action }) => action === "stop")).toEqual([]);
  expect(await dashboard.service.listPools({}, caller)).toMatchObject({ list: [] });
  expect(dashboard.rigs[0]?.model.mining).toBe(true);
  // The session is whole, and what the other page tried works from the dashboard's own.
  expect(await statusOf(page, "api/session")).toBe(200);
  expect(await statusOf(page, `api/miners/${rig}?action=locate&on=true`, "POST")).toBeLessThan(500);
  await evil.context().close();
  await close();
});

test("a forged or altered session shows the sign-in and nothing else", async () => {
  const { page, close } = await dashboard.visit("", { key });
  const [cookie] = await page.context().cookies();
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict" });
  await close();
  const last = cookie?.value.at(-1) === "A" ? "B" : "A";
  for (const value of [
    `${cookie?.value.slice(0, -1)}${last}`,
    "x".repeat(64),
    '"><script>window.ran=1</script>',
    "%00",
  ]) {
    const forged = await newPage(800, 600);
    await forged
      .context()
      .addCookies([{ name: cookie?.name ?? "", value: encodeURIComponent(value), url: dashboard.url }]);
    await forged.goto(`${dashboard.url}/rigs/${rig}`);
    await forged.getByRole("textbox", { name: "API key" }).waitFor();
    expect(await statusOf(forged, "api/miners")).toBe(401);
    expect(await forged.content()).not.toContain("Attic");
    await forged.context().close();
  }
});

test("markup that got into a page would not run, and could load nothing from elsewhere", async () => {
  const { page, close } = await dashboard.visit("", { key, expected: /Content.Security.Policy/i });
  const refused = await page.evaluate(async (elsewhere) => {
    const directives: string[] = [];
    document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) =>
      directives.push(effectiveDirective),
    );
    const script = document.createElement("script");
    script.textContent = "window.ran = 1";
    const image = document.createElement("div");
    image.innerHTML = `<img src="icon.svg" onload="window.ran = 1"><img src="${elsewhere}/pixel.png"><a href="javascript:window.ran=1">x</a>`;
    const shown = new Promise((resolve) => image.querySelector("img")?.addEventListener("load", resolve));
    document.body.append(script, image);
    image.querySelector("a")?.click();
    await fetch(elsewhere).catch(() => undefined);
    await shown;
    // Events of the document come after those of the image.
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    return directives;
  }, `http://localhost:${port}`);
  expect(new Set(refused)).toEqual(new Set(["script-src-elem", "script-src-attr", "img-src", "connect-src"]));
  expect(await page.evaluate("'ran' in window")).toBe(false);
  await close();
});
