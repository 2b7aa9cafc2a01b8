import { EventEmitter, on } from "node:events";
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from "@jest/globals";
import fc from "fast-check";
import type { HttpSettings } from "../../src/config/schema.ts";
import { agentPath } from "../../src/contract/agent.ts";
import { type OperationName, operationNames, operations } from "../../src/contract/operations.ts";
import type { SessionLog, SessionRow } from "../../src/contract/session.ts";
import { keyDigest } from "../../src/http/keys.ts";
import { Sessions } from "../../src/http/sessions.ts";
import { fakeOnly } from "../fake-timers.ts";
import { onTestFinished } from "../finished.ts";
import { until } from "../until.ts";
import { type Answer, open, type Served, serve } from "./wire.ts";

const key = "key-of-the-service-1";
const annasKey = "key-of-anna-1234567";
const anna = { id: 3, name: "anna" };
const json = { "content-type": "application/json" };

/** The keys of users, which a test may change. */
const keys = new Map<string, { readonly id: number; readonly name: string }>();
beforeEach(() => {
  keys.clear();
  keys.set(keyDigest(annasKey), anna);
});

const cookieName = "rigbridge-0123456789ab";

/** Sessions as a store would keep them. */
function rows(store = "0123456789abcdef"): SessionLog & { readonly kept: Map<string, SessionRow> } {
  const kept = new Map<string, SessionRow>();
  return {
    kept,
    store,
    all: () => [...kept.values()],
    save: async (row) => void kept.set(row.digest, row),
    remove: async (digests) => {
      for (const digest of digests) kept.delete(digest);
    },
  };
}

async function served(settings: Partial<HttpSettings> = { key }, sessions = rows()): Promise<Served> {
  const made = await serve(settings, {}, "127.0.0.1", { sessions });
  Object.assign(made.service, { keyHolder: (digest: string) => keys.get(digest) });
  return made;
}

interface LoggedIn {
  readonly answer: Answer;
  /** Name and value. */
  readonly cookie: string;
}

async function logIn(at: Served, withKey: string, headers: Record<string, string> = {}): Promise<LoggedIn> {
  const answer = await at.ask("POST", "/api/session", {
    headers: { ...json, ...headers },
    body: JSON.stringify({ key: withKey }),
  });
  return { answer, cookie: cookieIn(answer).split(";")[0] ?? "" };
}

const cookieIn = ({ headers }: Answer): string => headers["set-cookie"]?.join("\n") ?? "";
const own = (at: Served) => ({ origin: `http://127.0.0.1:${at.port}`, host: `127.0.0.1:${at.port}` });

describe("a browser", () => {
  let at: Served;
  beforeAll(async () => {
    at = await served();
  });
  afterAll(() => at.server.close());

  test("logs in with a login code once, as the owner", async () => {
    const code = at.server.loginCode() ?? "";
    const { answer, cookie } = await logIn(at, code);
    expect([answer.status, answer.json.by]).toEqual([201, "session"]);
    expect((await at.ask("GET", "/api/miners", { headers: { ...own(at), cookie } })).status).toBe(200);
    expect((await logIn(at, code)).answer.json.code).toBe("key.wrong");
    expect((await at.ask("GET", `/api/miners?key=${at.server.loginCode()}`)).json.code).toBe("key.wrong");
  });

  test("gets a cookie that no script reads and no other site sends, for the folder it was asked in", async () => {
    const { answer, cookie } = await logIn(at, annasKey);
    expect([answer.status, answer.json.by]).toEqual([201, "session"]);
    const [, ...attributes] = cookieIn(answer).split("; ");
    expect(attributes).toEqual(["Max-Age=2592000", "HttpOnly", "SameSite=Strict"]);
    expect(cookie).toMatch(new RegExp(`^${cookieName}=[A-Za-z0-9_-]{43}$`));
    expect(answer.text).not.toContain(cookie.split("=")[1]);
    expect(answer.text).not.toContain(annasKey);
  });

  test.each<[string, string, object, string]>([
    ["anna", annasKey, { actor: "anna", userId: 3 }, "session"],
    ["the owner", key, { actor: "http", userId: undefined }, "session"],
  ])("is then recognised by it as %s", async (_who, withKey, caller, by) => {
    const { cookie } = await logIn(at, withKey);
    const mine = await at.ask("GET", "/api/session", { headers: { cookie } });
    expect([mine.status, mine.json.by, mine.json.version]).toEqual([200, by, "1.2.3"]);
    expect(Date.parse(String(mine.json.expiresUtc))).toBeGreaterThan(Date.now() + 6.9 * 86_400_000);
    expect((await at.ask("GET", "/api/summary", { headers: { cookie } })).status).toBe(200);
    expect(at.calls.at(-1)).toMatchObject({ name: "getSummary", caller });
    const write = await at.ask("POST", "/api/miners/1?action=stop", { headers: { cookie, ...own(at) } });
    expect([write.status, at.calls.at(-1)?.caller]).toEqual([200, caller]);
  });

  test("that also sends a key is the client of the key, and a wrong key is refused whatever the cookie", async () => {
    const { cookie } = await logIn(at, annasKey);
    await at.ask("GET", "/api/summary", { headers: { cookie, "x-api-key": key } });
    expect(at.calls.at(-1)?.caller).toEqual({ actor: "http", userId: undefined });
    const wrong = await at.ask("GET", "/api/summary", { headers: { cookie, "x-api-key": "wrong" } });
    expect([wrong.status, wrong.json.code]).toEqual([401, "key.wrong"]);
  });

  test("is asked to log in without a session, and with one that is not known, whose cookie is taken away", async () => {
    expect((await at.ask("GET", "/api/session")).json.code).toBe("key.missing");
    for (const cookie of [`${cookieName}=forged`, `a=b; ${cookieName}=${"A".repeat(43)}`]) {
      const answer = await at.ask("GET", "/api/session", { headers: { cookie } });
      expect([answer.status, answer.json.code]).toEqual([401, "session.ended"]);
      expect(cookieIn(answer)).toMatch(/=; Max-Age=0; HttpOnly; SameSite=Strict$/);
    }
    const ofOther = await at.ask("GET", "/api/session", { headers: { cookie: "rigbridge-1=forged; rigbridge=x" } });
    expect(ofOther.json.code).toBe("key.missing");
  });

  test("that logs out is not recognised any more, and another session of the user stays", async () => {
    const [one, other] = [await logIn(at, annasKey), await logIn(at, annasKey)];
    const gone = await at.ask("DELETE", "/api/session", { headers: { cookie: one.cookie, ...own(at) } });
    expect([gone.status, gone.text]).toEqual([204, ""]);
    expect(cookieIn(gone)).toMatch(/=; Max-Age=0;/);
    expect((await at.ask("GET", "/api/session", { headers: { cookie: one.cookie } })).status).toBe(401);
    expect((await at.ask("GET", "/api/session", { headers: { cookie: other.cookie } })).status).toBe(200);
    expect((await at.ask("DELETE", "/api/session")).status).toBe(204);
  });

  test("that logs in again has one session: the new one", async () => {
    const { cookie } = await logIn(at, annasKey);
    const again = await logIn(at, key, { cookie });
    expect([again.answer.status, again.cookie === cookie]).toEqual([201, false]);
    expect((await at.ask("GET", "/api/session", { headers: { cookie } })).json.code).toBe("session.ended");
    // A failed attempt ends nothing.
    await logIn(at, "wrong-key-of-nobody", { cookie: again.cookie });
    expect((await at.ask("GET", "/api/session", { headers: { cookie: again.cookie } })).status).toBe(200);
  });

  test.each([
    ["no body", undefined, 400, "input.invalid"],
    ["no key", "{}", 400, "input.invalid"],
    ["an empty key", '{"key":""}', 400, "input.invalid"],
    ["a key that is no text", '{"key":7}', 400, "input.invalid"],
    ["a wrong key", '{"key":"not-the-key-of-anybody"}', 401, "key.wrong"],
    ["a body of 5 kB", JSON.stringify({ key: "k".repeat(5_000) }), 413, "body.too-large"],
  ])("with %s gets no session, and the error quotes nothing", async (_what, body, status, code) => {
    const answer = await at.ask("POST", "/api/session", { headers: json, ...(body === undefined ? {} : { body }) });
    expect([answer.status, answer.json.code, cookieIn(answer)]).toEqual([status, code, ""]);
    expect(answer.text).not.toMatch(/not-the-key|kkkk/);
  });

  test("has no session at the paths of agents and web hooks", async () => {
    const { cookie } = await logIn(at, key);
    const headers = { cookie, ...own(at) };
    expect((await at.ask("POST", "/api/hooks/x", { headers })).json.code).toBe("key.missing");
    expect((await at.ask("GET", agentPath, { headers })).json.code).toBe("key.missing");
  });

  test("leaves no key and no cookie in the log", async () => {
    const { cookie } = await logIn(at, annasKey);
    await logIn(at, "wrong-key-of-nobody");
    at.answers.set("getSummary", new Error("inner"));
    await at.ask("GET", "/api/summary", { headers: { cookie } });
    at.answers.delete("getSummary");
    await at.ask("GET", "/api/nothing", { headers: { cookie } });
    expect(at.logged.length).toBeGreaterThan(3);
    expect(at.logged.join("")).not.toMatch(new RegExp(`${cookie.split("=")[1]}|key-of-`));
  });
});

describe("a page of another site", () => {
  let at: Served;
  let cookie: string;
  beforeAll(async () => {
    keys.set(keyDigest(annasKey), anna);
    at = await served({ key, origins: ["https://panel.example"] });
    ({ cookie } = await logIn(at, key));
  });
  afterAll(() => at.server.close());

  const changing = operationNames.filter((name) => operations[name].method !== "GET");
  const send = (name: OperationName, headers: Record<string, string>) =>
    at.ask(operations[name].method, operations[name].path.replaceAll(/:\w+/g, "1"), { headers });
  /** Without these two headers it may be anything: browsers send one of them with every write. */
  test.each<[string, Record<string, string>, number]>([
    ["of another origin", { origin: "http://evil.example" }, 403],
    ["of the same host at another port", { origin: "http://127.0.0.1:1" }, 403],
    ["without an origin of its own", { origin: "null", "sec-fetch-site": "same-site" }, 403],
    ["that an older browser does not name", {}, 401],
  ])("%s can change nothing with the cookie", async (_how, headers, status) => {
    at.calls.length = 0;
    for (const name of changing)
      expect([name, (await send(name, { cookie, host: `127.0.0.1:${at.port}`, ...headers })).status]).toEqual([
        name,
        status,
      ]);
    expect(at.calls).toEqual([]);
  });

  test("can neither read with the cookie, nor hold a stream open, nor open or end a session", async () => {
    const evil = { cookie, origin: "http://evil.example", "sec-fetch-site": "cross-site" };
    expect((await at.ask("GET", "/api/summary", { headers: evil })).status).toBe(401);
    expect((await at.ask("GET", "/api/session", { headers: evil })).status).toBe(401);
    expect((await at.ask("GET", "/api/events", { headers: evil })).status).toBe(403);
    expect((await at.ask("DELETE", "/api/session", { headers: evil })).status).toBe(403);
    const { answer } = await logIn(at, key, { origin: "http://evil.example", "content-type": "text/plain" });
    expect([answer.status, cookieIn(answer)]).toEqual([403, ""]);
    expect((await at.ask("GET", "/api/session", { headers: { cookie } })).status).toBe(200);
  });

  test("that is listed never gets the leave to send cookies", async () => {
    const { headers } = await at.ask("GET", "/api/session", { headers: { cookie, origin: "https://panel.example" } });
    expect(headers["access-control-allow-origin"]).toBe("https://panel.example");
    expect(headers["access-control-allow-credentials"]).toBeUndefined();
  });
});

test("a session is one of all services with the same store, and none of another at the same host", async () => {
  const log = rows();
  const [one, stranger] = [await served({ key }, log), await served({ key }, rows("fedcba9876543210"))];
  for (const { server } of [one, stranger]) onTestFinished(() => server.close());
  const { cookie } = await logIn(one, key);
  // As after a takeover: another one has read the store.
  const other = await served({ key }, log);
  onTestFinished(() => other.server.close());
  expect(other.port).not.toBe(one.port);
  expect((await other.ask("GET", "/api/session", { headers: { cookie } })).json.by).toBe("session");
  const there = await logIn(stranger, key);
  const both = { headers: { cookie: `${there.cookie}; ${cookie}` } };
  for (const at of [other, stranger]) expect((await at.ask("GET", "/api/session", both)).json.by).toBe("session");
  expect((await stranger.ask("GET", "/api/session", { headers: { cookie } })).json.code).toBe("key.missing");
});

test("whatever stands in the Cookie header, it is either no session or one that has ended", async () => {
  const at = await served({ key, keylessRead: true });
  onTestFinished(() => at.server.close());
  const name = cookieName;
  const part = fc.oneof(
    fc.constantFrom(name, `${name}=`, `${name}==`, `${name} =x`, "=", ";", "; ", ",", '"', "\\", "a=b"),
    fc.stringMatching(/^[!-~]{0,40}$/),
  );
  let ended = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 12 }), async (parts) => {
      const { status, json: answer } = await at.ask("GET", "/api/session", { headers: { cookie: parts.join("") } });
      ended += status === 200 ? 0 : 1;
      // Many wrong ones make the address wait.
      expect(status === 200 ? answer.by : answer.code).toMatch(/^(none|session\.ended|too\.many)$/);
    }),
    { numRuns: 200, examples: [[[`${name}=`, "x"]]] },
  );
  expect(ended).toBeGreaterThan(0);
});

test("wrong keys, wrong cookies and failed logins of an address count together; the right ones always pass", async () => {
  const at = await served();
  onTestFinished(() => at.server.close());
  const { cookie } = await logIn(at, annasKey);
  const forged = { headers: { cookie: `${cookieName}=forged` } };
  for (let i = 0; i < 4; i += 1) {
    expect((await at.ask("GET", "/api/summary", forged)).status).toBe(401);
    expect((await logIn(at, "wrong-key-of-nobody")).answer.status).toBe(401);
    if (i < 2) expect((await at.ask("GET", "/api/summary?key=wrong")).status).toBe(401);
  }
  const limited = await logIn(at, "wrong-key-of-nobody");
  expect([limited.answer.status, limited.answer.headers["retry-after"]]).toEqual([429, "10"]);
  expect((await at.ask("GET", "/api/summary", forged)).status).toBe(429);
  expect((await at.ask("GET", "/api/summary", { headers: { cookie } })).status).toBe(200);
  expect((await logIn(at, annasKey)).answer.status).toBe(201);
});

test("a session ends with its user's key, with its user, and with the service's own key, for streams too", async () => {
  const log = rows();
  const first = await serve({ key }, { eventCommentInterval: 20 }, "127.0.0.1", { sessions: log });
  Object.assign(first.service, { keyHolder: (digest: string) => keys.get(digest) });
  Object.assign(first.service, {
    watchEvents: async function* (_input: unknown, _caller: unknown, signal: AbortSignal) {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
  });
  const { cookie } = await logIn(first, annasKey);
  const owners = await logIn(first, key);
  const status = async (at: Served, of: string) =>
    (await at.ask("GET", "/api/summary", { headers: { cookie: of } })).status;
  expect([await status(first, cookie), await status(first, owners.cookie)]).toEqual([200, 200]);

  const socket = open(first.port);
  let ended = false;
  socket.on("end", () => {
    ended = true;
  });
  let text = "";
  socket.on("data", (bytes) => {
    text += bytes.toString();
  });
  socket.write(`GET /api/events HTTP/1.1\r\nhost: localhost\r\ncookie: ${cookie}\r\nconnection: close\r\n\r\n`);
  await until(() => text.includes("retry:"), "the stream to begin");
  keys.clear();
  keys.set(keyDigest("another-key-of-anna"), anna);
  expect(await status(first, cookie)).toBe(401);
  await until(() => ended, "the stream to end");
  socket.destroy();
  // A key that another user has now opens nothing for the old session.
  keys.set(keyDigest(annasKey), { id: 4, name: "bert" });
  expect(await status(first, cookie)).toBe(401);
  keys.set(keyDigest(annasKey), anna);
  expect(await status(first, cookie)).toBe(401);
  await first.server.close();

  // The name of the cookie is that of the port, so the second service listens at the same one.
  const second = await served({ key, port: first.port }, log);
  expect(await status(second, owners.cookie)).toBe(200);
  await second.server.close();
  const third = await served({ key: "another-key-of-the-service", port: first.port }, log);
  expect(await status(third, owners.cookie)).toBe(401);
  expect([...log.kept.values()].filter(({ userId }) => userId === null)).toEqual([]);
  await third.server.close();
});

/** A service whose streams send an event each time that the test says so. */
async function streaming(log = rows(), eventCommentInterval = 60_000) {
  const at = await serve({ key }, { eventCommentInterval }, "127.0.0.1", { sessions: log });
  onTestFinished(() => at.server.close());
  const happened = new EventEmitter();
  Object.assign(at.service, {
    keyHolder: (digest: string) => keys.get(digest),
    watchEvents: async function* (_input: unknown, _caller: unknown, signal: AbortSignal) {
      for await (const [id] of on(happened, "event", { signal })) yield { id, type: "reset", data: {} };
    },
  });
  const stream = async (headers: string) => {
    const seen = { text: "", hasEnded: false };
    const socket = open(at.port);
    onTestFinished(() => void socket.destroy());
    socket.on("end", () => {
      seen.hasEnded = true;
    });
    socket.on("data", (bytes) => {
      seen.text += bytes.toString();
    });
    socket.write(`GET /api/events HTTP/1.1\r\nhost: localhost\r\n${headers}\r\nconnection: close\r\n\r\n`);
    await until(() => seen.text.includes("retry:"), "the stream to begin");
    return seen;
  };
  return { at, stream, happens: (id: number) => happened.emit("event", id) };
}

test.each<[string, boolean, (at: Served, cookie: string) => unknown]>([
  ["the user has logged out", true, (at, cookie) => at.ask("DELETE", "/api/session", { headers: { cookie } })],
  ["the user has another key", true, () => keys.delete(keyDigest(annasKey))],
  [
    "the key with which it was opened is another user's",
    false,
    () => keys.set(keyDigest(annasKey), { ...anna, id: 4 }),
  ],
])("a stream sends nothing more once %s", async (_why, isOfSession, end) => {
  const { at, stream, happens } = await streaming();
  const { cookie } = await logIn(at, annasKey);
  const seen = await stream(isOfSession ? `cookie: ${cookie}` : `x-api-key: ${annasKey}`);
  happens(1);
  await until(() => seen.text.includes("id: 1\n"), "the first event");
  await end(at, cookie);
  happens(2);
  await until(() => seen.hasEnded, "the stream to end");
  expect(seen.text).not.toContain("id: 2\n");
});

test("an open stream is a use of its session", async () => {
  fakeOnly("Date");
  const log = rows();
  const { at, stream } = await streaming(log, 20);
  const { cookie } = await logIn(at, annasKey);
  await stream(`cookie: ${cookie}`);
  const inTwoHours = Date.now() + 7_200_000;
  jest.setSystemTime(inTwoHours);
  await until(() => [...log.kept.values()].every(({ used }) => used === inTwoHours), "the use to be noted");
});

describe("sessions", () => {
  const day = 86_400_000;
  function book(log = rows()) {
    const clock = { now: 0 };
    const failures: unknown[] = [];
    const sessions = new Sessions({
      stored: log,
      keyHolder: (digest) => keys.get(digest),
      ownKey: () => key,
      now: () => clock.now,
      unstored: (error) => failures.push(error),
    });
    const opened = async (userId: number | null, withKey: string) =>
      (await sessions.open(userId, withKey)).session.digest;
    return { sessions, clock, log, failures, opened };
  }

  test("end 30 days after they were opened, and 7 after their last use, which is stored once an hour", async () => {
    const { sessions, clock, log, opened } = book();
    const [busy, used, idle] = [await opened(3, annasKey), await opened(3, annasKey), await opened(3, annasKey)];
    clock.now = 7 * day - 1;
    expect(sessions.use(used)).toBeDefined();
    await sessions.end(used);
    clock.now = 7 * day;
    expect(sessions.use(idle)).toBeUndefined();
    for (clock.now = 0; clock.now < 30 * day; clock.now += 6 * day) {
      expect(sessions.use(busy)?.holder).toEqual(anna);
      expect(log.kept.get(busy)?.used).toBe(clock.now);
    }
    clock.now = 24 * day + 3_599_999;
    sessions.use(busy);
    expect(log.kept.get(busy)?.used).toBe(24 * day);
    expect(sessions.use(idle)).toBeUndefined();
    clock.now = 30 * day - 1;
    expect(sessions.use(busy)).toBeDefined();
    clock.now = 30 * day;
    expect(sessions.use(busy)).toBeUndefined();
    await opened(3, annasKey);
    expect(log.kept.size).toBe(1);
  });

  test("survive a restart, stored without their ids and keys", async () => {
    const { sessions, log } = book();
    const { id, session } = await sessions.open(3, annasKey);
    expect(JSON.stringify([...log.kept])).not.toMatch(new RegExp(`${id}|${annasKey}`));
    expect(book(log).sessions.use(keyDigest(id))?.session).toEqual(session);
  });

  test("of one user are 20, and the one that was unused the longest ends; those of others stay", async () => {
    const { sessions, clock, opened } = book();
    const owners = await opened(null, key);
    const all: string[] = [];
    for (let count = 0; count < 20; count += 1) {
      clock.now += 1;
      all.push(await opened(3, annasKey));
    }
    clock.now += 3_600_000;
    sessions.use(all[0] ?? "");
    const more = await opened(3, annasKey);
    const open = [owners, ...all, more].map((digest) => sessions.use(digest) !== undefined);
    expect(open).toEqual([true, true, false, ...Array(18).fill(true), true]);
  });

  test("are opened on a full disk too, and last until the process ends", async () => {
    const full: SessionLog = {
      store: "",
      all: () => [],
      save: async () => {
        throw new Error("full");
      },
      remove: async () => {
        throw new Error("full");
      },
    };
    const { sessions, failures, opened } = book({ ...rows(), ...full });
    const digest = await opened(3, annasKey);
    expect([sessions.use(digest)?.holder, failures.length]).toEqual([anna, 1]);
    await sessions.end(digest);
    expect([sessions.use(digest), failures.length]).toEqual([undefined, 2]);
  });
});

test.each<[string, Partial<HttpSettings>, string | undefined, string, object]>([
  ["a service without a key needs none", {}, undefined, "none", { actor: "http", userId: undefined }],
  ["a user's session counts there all the same", {}, annasKey, "session", { actor: "anna", userId: 3 }],
  ["reads without a key are of a guest", { key, keylessRead: true }, undefined, "none", { privilege: "view" }],
  ["and a session comes before that", { key, keylessRead: true }, key, "session", { actor: "http" }],
])("%s", async (_what, settings, withKey, by, caller) => {
  const at = await served(settings);
  onTestFinished(() => at.server.close());
  const headers = withKey === undefined ? undefined : { cookie: (await logIn(at, withKey)).cookie };
  const { status, json: answer } = await at.ask("GET", "/api/session", headers === undefined ? {} : { headers });
  expect([status, answer.by, answer.expiresUtc === null]).toEqual([200, by, by === "none"]);
  expect(at.calls.at(-1)?.caller).toMatchObject(caller);
});

test("the cookie is Secure if a listed proxy received the request by https, and only then", async () => {
  const at = await served({ key, trustedProxies: ["127.0.0.2"], hosts: ["mining.example"] });
  onTestFinished(() => at.server.close());
  const headers = { ...json, host: "mining.example", "x-forwarded-proto": "https", origin: "https://mining.example" };
  const body = JSON.stringify({ key });
  const by = (from: string, more: Record<string, string> = {}) =>
    at.ask("POST", "/api/session", { from, headers: { ...headers, "x-forwarded-for": "10.0.0.8", ...more }, body });
  expect(cookieIn(await by("127.0.0.2"))).toMatch(/; SameSite=Strict; Secure$/);
  expect((await by("127.0.0.3")).json.code).toBe("request.cross-site");
  expect(cookieIn(await by("127.0.0.3", { origin: "http://mining.example" }))).toMatch(/; SameSite=Strict$/);
});
