import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { until } from "../until.ts";
import { type Running, running } from "./command.ts";

const ready = /is ready at (http:\/\/127\.0\.0\.1:\d+)/;

let folder = "";
let centre: Running;
let site: Running;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "rigbridge-connecting-"));
  const file = join(folder, "centre.yaml");
  await writeFile(file, 'http: { port: 0 }\nstore: { url: ":memory:" }\nsites: [{ name: Cabin, connectsOut: true }]\n');
  [centre, site] = await Promise.all([
    running(["serve", "--config", file], ready, { cwd: folder }),
    running(["serve", "--data", join(folder, "site"), "--port", "0"], ready, { cwd: folder }),
  ]);
});
afterAll(async () => {
  for (const each of [centre, site]) each.signal("SIGKILL");
  await Promise.all([centre.ended, site.ended]);
  await rm(folder, { recursive: true });
});

const urlOf = (service: Running): string => ready.exec(service.said())?.[1] ?? "";

async function send(service: Running, method: string, path: string, body?: unknown) {
  const json =
    body === undefined ? {} : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(`${urlOf(service)}${path}`, { method, ...json });
  return { status: response.status, json: await response.json() };
}

const cabin = async () => (await send(centre, "GET", "/api/sites")).json[0];
const save = (value: object) => send(site, "PUT", "/api/settings/centre", { value });

test("a site connects to its centre as the settings of both say, while both run", async () => {
  const { json: made } = await send(centre, "POST", "/api/sites/1/token");
  const { token } = made;
  const url = urlOf(centre);
  const saved = await save({ url, token });
  expect(saved.json.effects).toEqual([`This service connects to ${url}, and users there may control the rigs here`]);
  expect(JSON.stringify((await send(site, "GET", "/api/settings")).json)).not.toContain(token);
  await until(async () => (await cabin()).state === "connected", "the site at its centre");
  const { miners } = (await send(centre, "GET", "/api/miners?view=list")).json;
  expect([miners.length > 0, (await cabin()).miners]).toEqual([true, miners.length]);
  const locate = () => send(centre, "POST", `/api/miners/${miners[0].id}?action=locate&on=true`);
  expect((await locate()).status).not.toBe(403);

  // A token that is left out stays, as long as the address does.
  expect((await save({ url, privilege: "view" })).status).toBe(200);
  await until(async () => (await locate()).status === 403, "the other privilege");
  const refused = await save({ url, ca: join(folder, "nowhere.pem") });
  expect([refused.status, refused.json.detail]).toEqual([400, expect.stringMatching(/nowhere\.pem cannot be read/)]);
  await until(async () => (await cabin()).problem === null, "the former connection");

  expect((await send(site, "DELETE", "/api/settings/centre")).json.effects).toEqual([
    "The centre no longer sees this service",
  ]);
  await until(async () => (await cabin()).problem === "It is not connected to here", "the end of the connection");
  expect(`${centre.said()}${site.said()}`).not.toContain(token);
});
