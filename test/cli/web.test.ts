import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { operations } from "../../src/contract/operations.ts";
import { startTwin } from "../../src/simulator/index.ts";
import { onTestFinished } from "../finished.ts";
import { freePort } from "../free-port.ts";
import { command, type Running, running } from "./command.ts";

const keys = { service: "key-of-the-service-1", anna: "key-of-anna-1234567", web: "key-of-the-dashboard" };
const json = { "content-type": "application/json" };

let folder: string;
let port: number;
let service: Running;
const start = () => running(["serve", "--config", join(folder, "rigbridge.yaml")], /is ready/);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "rigbridge-web-"));
  port = await freePort();
  writeFileSync(
    join(folder, "rigbridge.yaml"),
    `http: { port: ${port}, key: ${keys.service} }
store: { url: ${join(folder, "rigbridge.db")} }
display: { locale: sv-SE, currency: SEK }
users:
  - { name: anna, key: ${keys.anna}, privilege: view }
`,
    { mode: 0o600 },
  );
  service = await start();
});
afterAll(async () => {
  service.signal("SIGTERM");
  await service.ended;
  rmSync(folder, { recursive: true });
});

interface Dashboard {
  readonly web: Running;
  ask(path: string, init?: RequestInit): Promise<{ readonly status: number; readonly body: Record<string, unknown> }>;
  /** Logs in; resolves with the headers of the session. */
  logIn(key: string): Promise<Record<string, string>>;
}

async function dashboard(url: string, env: Record<string, string>, ...more: string[]): Promise<Dashboard> {
  const own = await freePort();
  const args = ["web", "--service", url, "--port", String(own), ...more];
  const web = await running(args, /serves the dashboard/, { env });
  onTestFinished(async () => {
    web.signal("SIGTERM");
    expect((await web.ended).code).toBe(0);
  });
  const at = (path: string) => `http://127.0.0.1:${own}${path}`;
  return {
    web,
    ask: async (path, init = {}) => {
      const response = await fetch(at(path), init);
      const body: unknown = response.headers.get("content-type")?.includes("json") ? await response.json() : {};
      return { status: response.status, body: typeof body === "object" && body !== null ? { ...body } : {} };
    },
    logIn: async (key) => {
      const opened = await fetch(at("/api/session"), { method: "POST", headers: json, body: JSON.stringify({ key }) });
      expect(opened.status).toBe(201);
      return { cookie: opened.headers.get("set-cookie")?.split(";")[0] ?? "", origin: at("") };
    },
  };
}

test("rigbridge web shows a Rigbridge elsewhere with the rights of its key, which no answer contains", async () => {
  const { web, ask } = await dashboard(`http://127.0.0.1:${port}`, { RIGBRIDGE_KEY: keys.anna });
  const session = await ask("/api/session");
  expect(session.body).toMatchObject({
    user: { name: "anna", privilege: "view", sees: "all" },
    display: { locale: "sv-SE", currency: "SEK" },
    by: "none",
    demo: false,
  });
  expect(session.body.operations).toContain("listMiners");
  expect(session.body.operations).not.toContain("minerAction");
  expect(await ask("/api/version")).toMatchObject({ status: 200, body: { name: "Rigbridge" } });
  expect((await ask("/api/pools", { method: "POST", headers: json, body: '{"url":"a:1"}' })).body.code).toBe(
    "user.forbidden",
  );
  expect(JSON.stringify(session) + web.said()).not.toContain(keys.anna);
  const page = await ask("/", { headers: { accept: "text/html" } });
  expect([200, 503]).toContain(page.status);
});

test("rigbridge web shows what another product offers, with a key and sessions of its own", async () => {
  const twin = await startTwin({ miners: 3, key: "invented-key-of-a-test" });
  onTestFinished(() => twin.close());
  const env = { RIGBRIDGE_KEY: "invented-key-of-a-test", RIGBRIDGE_WEB_KEY: keys.web };
  const { ask, logIn } = await dashboard(twin.url, env, "--host", "0.0.0.0");
  for (const key of ["", "invented-key-of-a-test"])
    expect((await ask("/api/session", { headers: { "x-api-key": key } })).status).toBe(401);
  const headers = await logIn(keys.web);
  const { body } = await ask("/api/session", { headers });
  expect(body).toMatchObject({ by: "session", user: { privilege: "administrator", sees: "all" }, demo: false });
  // Events and rows are made here of what the product offers.
  const ours = ["watchEvents", "listMinerRows", "watchMinerRows"];
  const offered = Object.entries(operations).flatMap(([name, each]) =>
    "extension" in each && !ours.includes(name) ? [] : [name],
  );
  expect(body.operations).toEqual(offered);
  expect((await ask("/api/summary", { headers })).body.totalCount).toBe(3);
  const ids = /"id":(1000000\d{3})/.exec(JSON.stringify((await ask("/api/miners", { headers })).body));
  const restart = await ask(`/api/miners/${ids?.[1]}?action=restart`, { method: "POST", headers });
  expect([restart.status, restart.body.success]).toEqual([200, true]);
  expect((await ask("/api/rules", { headers })).body.code).toBe("service.unsupported");
});

test("a service that is away, or refuses the key, ends nobody's session", async () => {
  const env = { RIGBRIDGE_KEY: keys.service, RIGBRIDGE_WEB_KEY: keys.web };
  const { web, ask, logIn } = await dashboard(`http://127.0.0.1:${port}`, env);
  const headers = await logIn(keys.web);
  expect((await ask("/api/summary", { headers })).status).toBe(200);
  service.signal("SIGTERM");
  await service.ended;
  const away = await ask("/api/summary", { headers });
  expect([away.status, away.body.code]).toEqual([504, "service.unreachable"]);
  const waiting = await dashboard(`http://127.0.0.1:${port}`, env);
  expect(waiting.web.said()).toMatch(/The dashboard waits for the service: .*no program listens there/);

  const file = join(folder, "rigbridge.yaml");
  const other = await running(
    ["serve", "--host", "127.0.0.1", "--port", String(port), "--data", join(folder, "other"), "--make-key"],
    /is ready/,
  );
  const refused = await ask("/api/summary", { headers });
  expect([refused.status, refused.body.code]).toEqual([502, "service.refused"]);
  expect(refused.body.detail).toMatch(/^The service refuses the key of rigbridge web/);
  other.signal("SIGTERM");
  await other.ended;
  service = await running(["serve", "--config", file], /is ready/);
  expect((await ask("/api/summary", { headers })).status).toBe(200);
  expect(web.said()).not.toMatch(/key-of-/);
});

test("rigbridge web names each option that is wrong, and what it needs", async () => {
  const wrong = await command(["web", "--host", "", "--port", "soon", "--web-key", "short"]);
  expect([wrong.code, wrong.stderr.trim().split("\n")]).toEqual([
    1,
    [
      "The dashboard did not start:",
      "  --host: must not be empty",
      "  --web-key: needs at least 16 characters",
      "  --port: must be a whole number from 0 to 65535",
    ],
  ]);
  const open = await command(["web", "--host", "0.0.0.0"]);
  expect([open.code, open.stderr]).toEqual([1, expect.stringMatching(/--host: .*other machines.*RIGBRIDGE_WEB_KEY/)]);
  const keyless = join(folder, "keyless.yaml");
  writeFileSync(keyless, `http: { key: ${keys.web}, keylessRead: true }\n`, { mode: 0o600 });
  const shown = await command(["web", "--config", keyless]);
  expect([shown.code, shown.stderr]).toEqual([1, expect.stringMatching(/--config: http\.keylessRead would show/)]);
  const taken = await command(["web", "--service", `http://127.0.0.1:${port}`, "--port", String(port)], {
    env: { RIGBRIDGE_KEY: keys.service },
  });
  expect([taken.code, taken.stderr]).toEqual([1, expect.stringMatching(/another program listens there.*--port/)]);
  const key = await command(["web", "--service", `http://127.0.0.1:${port}`], {
    env: { RIGBRIDGE_KEY: "wrong-key" },
  });
  expect([key.code, key.stderr]).toEqual([
    1,
    expect.stringMatching(/The API key is wrong \(set the key in RIGBRIDGE_KEY\)/),
  ]);
});

test("sessions survive a restart of the service", async () => {
  const at = `http://127.0.0.1:${port}`;
  const opened = await fetch(`${at}/api/session`, {
    method: "POST",
    headers: json,
    body: JSON.stringify({ key: keys.anna }),
  });
  const cookie = opened.headers.get("set-cookie")?.split(";")[0] ?? "";
  const session = async (): Promise<object> =>
    (await (await fetch(`${at}/api/session`, { headers: { cookie } })).json()) as object;
  const before = await session();
  expect(before).toMatchObject({ by: "session", user: { name: "anna" } });
  service.signal("SIGKILL");
  await service.ended;
  service = await start();
  expect(await session()).toEqual({ ...before, time: expect.any(String) });
});
