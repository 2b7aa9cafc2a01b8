import { readdir, readFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { operationNames, operations } from "../../src/contract/operations.ts";
import { type Farm, startFarm } from "../../src/simulator/index.ts";
import { workers } from "../pollers.ts";
import { type Ask, type ServiceProcess, startProcess } from "../torture/process.ts";
import { within } from "../until.ts";
import { writings } from "./writings.ts";

/** The secret words, with characters that each encoding changes. */
const secrets = {
  service: 'Zervice"key\\+/&%=?-12345',
  user: 'Uzer"key\\+/&%=?-1234567',
  laterUser: 'Later"key\\+/&%=?-123456',
  guess: 'Guezz"key\\+/&%=?-123456',
  rigPassword: 'Rig"pazz\\+/&%=?é',
  laterRigPassword: 'LaterRig"pazz\\+/&%=?é',
  token: 'Rig"token\\+/&%=?-7',
  pool: 'Pool"pazz\\+/&%=?é',
  laterPool: 'LaterPool"pazz\\+/&%=?é',
};
/** The secrets of pools that users with control get, as the API documents it. */
const shownWithPools = [secrets.pool, secrets.laterPool];

let farm: Farm;
let service: ServiceProcess;
const sessionIds: string[] = [];
/** All output, with its source. */
const came: [where: string, what: string][] = [];

beforeAll(async () => {
  farm = await startFarm({
    rigs: [
      { kind: "cgminer", dialect: "bmminer", warm: true, host: "127.103.20.1" },
      { kind: "axeos", warm: true, host: "127.103.20.2" },
      { kind: "xmrig", warm: true, host: "127.103.20.3", token: "another-token" },
      { kind: "axeos", warm: true, host: "127.103.20.4" },
    ],
  });
  const [refusing, paged, guarded, well] = farm.rigs;
  service = await startProcess({
    config: {
      http: { key: secrets.service, origins: ["https://panel.example"] },
      poll: { workers, interval: 1, timeout: 1 },
      scan: { networks: ["127.103.29.0/30"] },
      miners: [
        { address: refusing?.address, name: "refusing", username: "root", password: secrets.rigPassword },
        { address: paged?.address, name: "paged", username: "root", password: secrets.rigPassword },
        { address: guarded?.address, name: "guarded", token: secrets.token },
        { address: well?.address, name: "well", token: secrets.token, password: secrets.rigPassword },
      ],
      pools: [{ name: "pool", url: "stratum+tcp://pool.example:1", worker: "w", password: secrets.pool }],
      users: [{ name: "anna", key: secrets.user, privilege: "administrator" }],
    },
    env: { LOG_LEVEL: "trace" },
  });
});
afterAll(async () => {
  await service.close();
  await farm.close();
});

async function ask(method: string, target: string, what: Ask = {}): Promise<string> {
  const { status, headers, text } = await service.ask(method, target, what);
  const kept = shownWithPools.reduce((rest, word) => rest.replaceAll(JSON.stringify(word), '""'), text);
  came.push([`${method} ${target.replace(/\?.*/s, "")}`, JSON.stringify(headers) + (isOfPools(target) ? kept : text)]);
  came.push(["status", String(status)]);
  return text;
}

const isOfPools = (target: string): boolean => /^\/api\/(pools|events)\b/.test(target);
const send = (target: string, body: unknown, headers = {}): Promise<string> =>
  ask("POST", target, {
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

function raw(bytes: string): Promise<void> {
  let text = "";
  const closed = new Promise<void>((resolve) => {
    const socket = connect(service.port, "127.0.0.1", () => socket.write(bytes));
    socket.on("data", (part) => {
      text += part.toString("latin1");
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      came.push(["bytes that are no request", text]);
      resolve();
    });
  });
  return within(closed, "the service to close the connection", { details: () => text });
}

test("no error exposes a key, password or token", async () => {
  const key = encodeURIComponent(secrets.service);
  const every = Object.values(secrets);
  // Each rig fails in a different way.
  const [refusing, paged] = farm.rigs;
  if (refusing !== undefined) refusing.fault = "denied";
  if (paged !== undefined) paged.fault = "http-401";

  // Every read, by key in the query and in the header, of the service and of a user.
  for (const name of operationNames.filter((name) => operations[name].method === "GET"))
    for (const id of ["1", "1000000001", "x"]) {
      const target = operations[name].path.replaceAll(/:\w+/g, id);
      await ask("GET", target);
      await ask("GET", `${target}?key=${encodeURIComponent(secrets.user)}&key2=${key}`, {
        headers: { "x-api-key": "" },
      });
    }
  for (const page of ["/metrics", "/openapi.json", "/health", "/docs"]) await ask("GET", `${page}?key=${key}`);

  // Bad input of all kinds, with a secret in each place.
  for (const word of every) {
    const text = encodeURIComponent(word);
    await ask("GET", `/api/nix/${text}?key=${key}&x=${text}`);
    await ask("GET", `/api/summary&key=${text}`);
    await ask("GET", `/api/summary%3Fkey=${text}`);
    await ask("GET", `/api/summary?key=${text}&key=${text}`);
    await ask("GET", `/api/summary?user_id=${text}`);
    await ask("POST", `/api/miners/1000000001?action=${text}`);
    await send("/api/pools", `{"plainWorkerPassword":"${word}`);
    await send("/api/pools", { url: `stratum+tcp://u:${word}@pool.example:1`, plainWorkerPassword: `${word}\n` });
    await send("/api/users", { name: "x", key: `${word} ` });
    await send("/api/users", { name: "x", privilege: word });
    await send("/api/miners", { address: `http://root:${word}@127.103.21.1` });
    await send("/api/miners", { address: `127.103.21.1:1`, password: word, driver: word });
    await send("/api/miners", { address: "127.103.21.1:1", token: word.repeat(100) });
    await send("/api/nix", { password: word });
    await send("/api/pools", { plainWorkerPassword: word }, { "content-type": "text/plain" });
    await raw(`GARBAGE ${word} key=${text}\r\n\r\n`);
    await raw(
      `GET /api/user/%zz?key=${text} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${text}\r\nConnection: close\r\n\r\n`,
    );
    await raw(`GET /api/summary?key=${text} HTTP/1.1\r\nHost: ${text}\r\nConnection: close\r\n\r\n`);
    await raw(`GET /api/summary?key=${text}${"x".repeat(20_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  }
  for (const origin of ["https://panel.example", "http://evil.example"])
    await ask("OPTIONS", `/api/miners/1?key=${key}`, {
      headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "x-api-key" },
    });
  for (let guess = 0; guess < 12; guess += 1)
    await ask("GET", `/api/summary?key=${encodeURIComponent(secrets.guess)}`, {
      headers: { "x-api-key": "" },
      from: "127.103.22.1",
    });

  // A session that stays open, one that is ended, and one that is forged.
  const sessionOf = async (key: string): Promise<string> => {
    const { headers } = await service.ask("POST", "/api/session", {
      headers: { "content-type": "application/json", "x-api-key": "" },
      body: JSON.stringify({ key }),
    });
    return headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
  };
  for (const key of [secrets.user, secrets.service]) {
    const cookie = await sessionOf(key);
    sessionIds.push(cookie.split("=")[1] ?? "");
    for (const path of ["/api/session", "/api/users", "/api/nothing", "/metrics"])
      await ask("GET", path, { headers: { cookie, "x-api-key": "" } });
  }
  expect(sessionIds.filter((id) => id.length === 43)).toHaveLength(2);
  await send("/api/session", { key: secrets.guess });
  await send("/api/session", { key: [secrets.guess] });

  // Valid input, which is stored.
  await send("/api/users", { name: "bert", key: secrets.laterUser, privilege: "control" });
  await send("/api/pools", { id: 1, plainWorkerPassword: secrets.laterPool });
  await send("/api/pools", {
    description: "new",
    url: "stratum+tcp://new.example:1",
    plainWorkerPassword: secrets.laterPool,
  });
  await send("/api/miners", { address: "127.103.21.2:1", password: secrets.laterRigPassword, token: secrets.token });

  // Commands that the rigs refuse or execute.
  for (const id of [1_000_000_001, 1_000_000_002, 1_000_000_003, 1_000_000_004]) {
    await ask("POST", `/api/miners/${id}/poll`);
    for (const action of ["reboot", "change_pool&pool_id=1&pool_type=single", "add_pool&pool_id=1&pool_type=single"])
      await ask("POST", `/api/miners/${id}?action=${action}`);
  }
  for (const list of ["miners", "notifications", "commands", "users", "hosts", "pools"])
    await ask("GET", `/api/${list}`);
  expect(came.some(([, what]) => what.includes("anna"))).toBe(true);

  const cmdline = await readFile(`/proc/${service.pid}/cmdline`, "utf8").catch(() => "");
  came.push(["the arguments of the process", cmdline]);
  expect(await service.stop()).toBe(0);
  came.push(["stdout", service.stdout()], ["stderr", service.stderr()]);
  expect(service.stdout()).toContain("refused");

  const statuses = new Set(came.filter(([where]) => where === "status").map(([, status]) => status));
  for (const status of ["200", "201", "204", "400", "401", "403", "404", "415", "429", "502"])
    expect(statuses).toContain(status);
  for (const [name, secret] of [...Object.entries(secrets), ...sessionIds.map((id) => ["a session", id] as const)])
    for (const writing of writings(secret)) {
      const leaks = came.filter(([, what]) => what.includes(writing)).map(([where]) => where);
      expect([name, writing, leaks]).toEqual([name, writing, []]);
    }
});

test("the store contains only digests of keys and sessions", async () => {
  const files = (await readdir(service.folder)).filter((file) => file !== "rigbridge.yaml");
  expect(files).toContain("rigbridge.db");
  const bytes = Buffer.concat(await Promise.all(files.map((file) => readFile(join(service.folder, file)))));
  expect(bytes.includes("anna")).toBe(true);
  for (const key of [secrets.service, secrets.user, secrets.laterUser, secrets.guess, ...sessionIds])
    for (const writing of writings(key)) expect([writing, bytes.includes(writing)]).toEqual([writing, false]);
});
