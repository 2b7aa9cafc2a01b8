import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { onTestFinished } from "../finished.ts";
import { until } from "../until.ts";
import { type Running, running } from "./command.ts";

const ready = /is ready at (http:\/\/127\.0\.0\.1:\d+)/;

let folder = "";
let service: Running;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "rigbridge-access-"));
  service = await running(["serve", "--data", folder, "--port", "0"], ready, { cwd: folder });
});
afterAll(async () => {
  service.signal("SIGKILL");
  await service.ended;
  await rm(folder, { recursive: true });
});

interface Listed {
  readonly sections: readonly { readonly key: string; readonly effective: { readonly interval?: number } }[];
}

type Headers = Readonly<Record<string, string>>;

/** Sends headers that fetch would not. */
async function send(method: string, path: string, headers: Headers = {}, body?: unknown) {
  const url = new URL(path, ready.exec(service.said())?.[1]);
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; cookie: string; text: string }>();
  const json = body === undefined ? {} : { "content-type": "application/json" };
  const asked = request(url, { method, headers: { ...json, ...headers } }, async (answer) => {
    const text = (await answer.toArray()).join("");
    const [cookie = ""] = answer.headers["set-cookie"] ?? [];
    resolve({ status: answer.statusCode ?? 0, cookie: cookie.split(";")[0] ?? "", text });
  });
  asked.on("error", reject);
  asked.end(body === undefined ? undefined : JSON.stringify(body));
  return promise;
}
const save = (value: object, headers: Headers = {}) => send("PUT", "/api/settings/http", headers, { value });
const status = async (headers: Headers = {}) => (await send("GET", "/api/miners", headers)).status;

const key = "a-key-of-the-owner-1";
const other = "a-key-of-the-owner-2";

test("who may use the service changes while it runs: its key, sessions, names and origins", async () => {
  expect(await status()).toBe(200);
  const set = await save({ key });
  expect([set.status, set.text]).toEqual([200, expect.stringContaining("Clients and browsers need a key from now on")]);
  expect(await status()).toBe(401);
  const owner = { "x-api-key": key };
  expect(await status(owner)).toBe(200);
  const { cookie } = await send("POST", "/api/session", {}, { key });
  expect(await status({ cookie })).toBe(200);

  expect(await status({ ...owner, host: "rigs.example" })).toBe(421);
  const page = { "sec-fetch-site": "cross-site", origin: "https://panel.example" };
  expect((await send("POST", "/api/scan/cancel", { ...owner, ...page })).status).toBe(403);
  await save({ key, hosts: ["rigs.example"], origins: [page.origin] }, owner);
  expect(await status({ ...owner, host: "rigs.example" })).toBe(200);
  expect((await send("POST", "/api/scan/cancel", { ...owner, ...page })).status).not.toBe(403);
  expect(await status({ cookie })).toBe(200);

  await save({ key: other }, owner);
  expect([await status(owner), await status({ cookie })]).toEqual([401, 401]);
  expect(await status({ "x-api-key": other })).toBe(200);
  // A user must not get the service's key.
  const user = { name: "ann", privilege: "view", key: other };
  expect((await send("POST", "/api/users", { "x-api-key": other }, user)).status).toBe(400);

  const { text } = await send("DELETE", "/api/settings/http", { "x-api-key": other });
  expect(text).toContain("A key is no longer needed: only this machine is served");
  expect(await status()).toBe(200);
});

test("another address is kept for the next start, and the list says so", async () => {
  const saved = JSON.parse((await save({ host: "127.0.0.2" })).text) as { section: { restart: boolean } };
  expect(saved.section.restart).toBe(true);
  expect(await status()).toBe(200);
  // With nothing else to do, reading the file again starts the service anew with what waits.
  expect((await send("POST", "/api/settings/reload")).text).toContain("the service restarts with them");
  await until(() => /is ready at http:\/\/127\.0\.0\.2:/.test(service.said()), "the service at its other address");
});

test("kill -9 right after a save: what was acknowledged holds at the next start", async () => {
  const own = await mkdtemp(join(tmpdir(), "rigbridge-killed-"));
  onTestFinished(() => rm(own, { recursive: true }));
  /** What was acknowledged last, and what was sent after it. */
  let kept: readonly number[] = [10];
  // Once while another save is on its way, once without; each start checks the round before.
  for (let round = 1; round <= 3; round += 1) {
    const killed = await running(["serve", "--data", own, "--port", "0"], ready, { cwd: own });
    const url = ready.exec(killed.said())?.[1];
    const { sections } = (await (await fetch(`${url}/api/settings`)).json()) as Listed;
    expect(kept).toContain(sections.find(({ key }) => key === "poll")?.effective.interval);
    const saveInterval = async (interval: number): Promise<number> => {
      const body = JSON.stringify({ value: { interval } });
      const headers = { "content-type": "application/json" };
      return (await fetch(`${url}/api/settings/poll`, { method: "PUT", headers, body })).status;
    };
    const [first, second] = [round * 100, round * 100 + 1];
    expect(await saveInterval(first)).toBe(200);
    kept = round % 2 === 0 ? [first] : [first, second];
    const cut = round % 2 === 0 ? null : saveInterval(second);
    killed.signal("SIGKILL");
    if ((await cut?.catch(() => null)) === 200) kept = [second];
    await killed.ended;
  }
});
