import { describe, expect, jest, test } from "@jest/globals";
import { coded } from "../../../src/messages/coded.ts";
import type { Language } from "../../../src/messages/languages.ts";
import { serviceTexts } from "../../../src/messages/service-texts.ts";
import { counted } from "../../../src/messages/texts.ts";
import { giveUpMs } from "../../../src/service/notifications/outbox.ts";
import { isSigned, json, openDouble, openMailServer, services } from "./doubles.ts";
import { offline, openOutboxBench, start } from "./outbox-bench.ts";

const phone = { type: "ntfy", topic: "farm" };
const caller = { actor: "test" };

describe.each(Object.entries(services))("%s", (type, service) => {
  test("hears exactly one message for an alarm, and one for its recovery, as the service documents it", async () => {
    const { heard, url } = await openDouble(service.answer);
    const bench = await openOutboxBench([{ ...service.settings(url) }]);
    bench.notices.raise(offline(1));
    await bench.pass(29);
    expect(heard).toEqual([]);
    await bench.pass(1);
    for (let turn = 0; turn < 5; turn += 1) await bench.pass(60);
    expect(heard).toHaveLength(1);
    bench.notices.raise(offline(1));
    bench.notices.close("disconnected:1", "It answers again");
    for (let turn = 0; turn < 5; turn += 1) await bench.pass(60);
    expect(heard).toHaveLength(2);
    for (const { method, path, headers, body } of heard) {
      expect([method, path]).toEqual([service.method ?? "POST", expect.stringMatching(service.path)]);
      expect(headers).toMatchObject(service.headers ?? {});
      service.body.parse(JSON.parse(body));
    }
    const [alarm, recovery] = heard.map(({ body }) => body);
    expect([alarm?.includes("Disconnected"), alarm?.includes("Cannot be reached")]).toEqual([true, true]);
    expect([recovery?.includes("Disconnected – over"), recovery?.includes("It answers again")]).toEqual([true, true]);
    expect(recovery).toContain("since 2026-03-01 12:00:00");
    expect(bench.rows().map(({ state }) => state)).toEqual(["sent", "sent"]);
    // The same id would be ignored as a repeat.
    if (type === "matrix") expect(heard[0]?.path).not.toBe(heard[1]?.path);
    if (type === "webhook")
      expect(heard.map((each) => [isSigned(each, "signing-secret"), isSigned(each, "another")])).toEqual([
        [true, false],
        [true, false],
      ]);
  });

  test("tells no secret in logs, in its state, or in the outbox", async () => {
    const { url } = await openDouble((response) => response.writeHead(401).end("no secret for you"));
    const settings = { key: "one", ...service.settings(url) };
    const bench = await openOutboxBench([settings]);
    bench.notices.raise(offline(1));
    await bench.pass(30);
    const operations = await bench.operations();
    const listed = JSON.stringify(await operations.listChannels({}, caller)).replace('"secret":""', "");
    const told = JSON.stringify([bench.lines, bench.rows()]) + listed;
    const refused = await operations.testChannel({ key: "one" }, caller).catch((error: Error) => error.message);
    expect(refused).toContain("answers 401; check its token");
    expect(`${told} ${refused}`).not.toMatch(/secret|farm-topic/);
  });
});

describe("mail", () => {
  const mail = (port: number, over: object = {}) => ({
    type: "mail",
    host: "127.0.0.1",
    port,
    security: "none",
    sender: "farm@example.org",
    to: ["me@example.org"],
    username: "farm",
    password: "right-password",
    ...over,
  });

  test("hears one message for an alarm, and one for its recovery", async () => {
    const { mails, logins, port } = await openMailServer();
    const bench = await openOutboxBench([mail(port)]);
    bench.notices.raise(offline(1, { message: "Größe < 5 & more" }));
    await bench.pass(30);
    await bench.pass(60);
    bench.notices.close("disconnected:1", "It answers again");
    await bench.pass(30);
    await bench.pass(60);
    expect(mails).toHaveLength(2);
    expect(logins).toEqual(["farm:right-password", "farm:right-password"]);
    expect(mails[0]).toMatch(/^To: me@example\.org\r$/m);
    expect(mails[0]).toMatch(/^Subject: =\?UTF-8\?Q\?rig_=221=22=3A_Disconnected\?=\r$/m);
    expect(mails[1]).toContain("It answers again (since 2026-03-01 12:00:00");
  });

  test("is tried again after a 4xx, and not after a 5xx or a wrong login", async () => {
    const busy = await openMailServer({ refusal: { code: 451, text: "later" } });
    const refusing = await openMailServer({ refusal: { code: 550, text: "never" } });
    const bench = await openOutboxBench([
      { key: "busy", ...mail(busy.port) },
      { key: "refusing", ...mail(refusing.port) },
      { key: "login", ...mail(busy.port, { password: "wrong-password" }) },
    ]);
    bench.notices.raise(offline(1));
    await bench.pass(30);
    expect(bench.rows().map(({ state, error }) => [state, error])).toEqual([
      ["waiting", expect.stringMatching(/answers 451/)],
      ["failed", expect.stringMatching(/answers 550/)],
      ["failed", expect.stringMatching(/answers 535; check username and password$/)],
    ]);
    expect(JSON.stringify([bench.rows(), bench.lines])).not.toContain("wrong-password");
  });
});

describe("many notifications", () => {
  test("within 30 s are one message: 600 rigs that go away at once", async () => {
    const { heard, url } = await openDouble();
    const bench = await openOutboxBench([{ ...phone, url }]);
    for (let id = 1; id <= 600; id += 1) {
      bench.notices.raise(offline(id));
      bench.clock.now += 20;
    }
    await bench.pass(18);
    await bench.pass(60);
    expect(heard).toHaveLength(1);
    const { title, message } = JSON.parse(heard[0]?.body ?? "");
    expect(title).toBe("600 rigs offline in Garage");
    expect(message).toMatch(/^rig "1", rig "2", .* and 580 more$/);
    for (let id = 1; id <= 600; id += 1) bench.notices.close(`disconnected:${id}`, "It answers again");
    await bench.pass(30);
    await bench.pass(60);
    expect(heard).toHaveLength(2);
    expect(JSON.parse(heard[1]?.body ?? "").title).toBe("600 rigs back online in Garage");
  });

  test("are in the language of the channel, each in its own; English stays in the list", async () => {
    const { heard, url } = await openDouble();
    const bench = await openOutboxBench([
      { key: "de", ...phone, url, language: "de" },
      { key: "ru", ...phone, url, language: "ru" },
    ]);
    const title = coded("notices.disconnected.title");
    const message = coded("notices.disconnected.message", { why: "no answer" });
    for (let id = 1; id <= 22; id += 1) bench.notices.raise({ ...offline(id), title, message });
    await bench.pass(30);
    await bench.pass(60);
    for (let id = 1; id <= 22; id += 1) bench.notices.close(`disconnected:${id}`, coded("notices.disconnected.over"));
    await bench.pass(30);
    await bench.pass(60);
    const titles = heard.map(({ body }) => JSON.parse(body).title);
    expect(new Set(titles)).toEqual(
      new Set(
        ["de", "ru"].flatMap((language) => {
          const { channel } = serviceTexts(language as Language);
          const rigs = counted(22, channel.rigs, language);
          return [channel.offlineIn({ rigs, group: "Garage" }), channel.backIn({ rigs, group: "Garage" })];
        }),
      ),
    );
    expect(titles).not.toContain("22 rigs offline in Garage");
    expect(bench.listed()[0]).toMatchObject({ title: "Disconnected", message: "Cannot be reached: no answer" });
  });

  test("of several kinds have a line each, and no more than one message a second is sent", async () => {
    const { heard, url } = await openDouble();
    const bench = await openOutboxBench([{ ...phone, url }]);
    bench.notices.raise(offline(1));
    bench.notices.raise(offline(2));
    bench.notices.raise(offline(3, { key: "login:3", title: "Login wrong", message: "The password is wrong" }));
    await bench.pass(30);
    const { title, message } = JSON.parse(heard[0]?.body ?? "");
    expect(title).toBe("3 notifications");
    expect(message.split("\n")).toEqual([
      '2 rigs offline in Garage: rig "1", rig "2"',
      'rig "3": Login wrong: The password is wrong',
    ]);
    await bench.outbox.turn();
    expect(heard).toHaveLength(1);
  });

  test("that are over before they are sent say so, without a message of their own", async () => {
    const { heard, url } = await openDouble();
    const bench = await openOutboxBench([{ ...phone, url }]);
    bench.notices.raise(offline(1));
    await bench.pass(10);
    bench.notices.close("disconnected:1", "It answers again");
    await bench.pass(20);
    await bench.pass(60);
    expect(heard).toHaveLength(1);
    expect(JSON.parse(heard[0]?.body ?? "").message).toBe("Cannot be reached: no answer\nOver: It answers again");
  });
});

describe("a channel takes", () => {
  test("what is severe enough, of the miners of its groups, and what names it", async () => {
    const doubles = await Promise.all([openDouble(), openDouble(), openDouble(), openDouble()]);
    const [critical, garage, cellar, all] = doubles.map(({ url }) => ({ ...phone, url }));
    const bench = await openOutboxBench([
      { ...critical, key: "critical", from: "critical" },
      { ...garage, key: "hall", groups: ["Hall"] },
      { ...cellar, key: "cellar", groups: ["Cellar"], from: "info" },
      { ...all, key: "all", from: "info" },
    ]);
    const waiting = () => bench.rows().map(({ channel, title }) => `${channel} ${title}`);
    bench.notices.raise(offline(1, { title: "a" }));
    bench.notices.raise(offline(2, { title: "b", severity: "info" }));
    bench.notices.raise(offline(0, { title: "c", minerId: null, key: "c" }));
    bench.notices.raise(offline(3, { title: "d", severity: "info", channels: ["critical", "cellar"] }));
    bench.notices.raise(offline(4, { title: "e", channels: "none" }));
    bench.notices.raise(offline(666, { title: "of a demo" }));
    expect(waiting()).toEqual(["hall a", "all a", "all b", "all c", "critical d"]);
    // Worse than before: only who was not told yet.
    bench.notices.raise(offline(1, { title: "a", severity: "critical" }));
    expect(waiting().slice(5)).toEqual(["critical a"]);
  });

  test("nothing in its quiet hours but what is critical, and the rest after them", async () => {
    const { heard, url } = await openDouble();
    const quiet = { from: "22:00", to: "07:00", timeZone: "UTC" };
    const bench = await openOutboxBench([{ ...phone, url, quiet }]);
    bench.clock.now = Date.parse("2026-03-01T22:30:00Z");
    bench.notices.raise(offline(1));
    await bench.pass(60);
    await bench.pass(7 * 3600);
    expect(heard).toEqual([]);
    bench.notices.raise(offline(2, { severity: "critical" }));
    await bench.pass(30);
    expect(heard.map(({ body }) => JSON.parse(body).title)).toEqual(['rig "2": Disconnected']);
    await bench.pass(3600 + 1800);
    expect(heard.map(({ body }) => JSON.parse(body).title).slice(1)).toEqual(['rig "1": Disconnected']);
  });
});

describe("a message that is not taken", () => {
  test("is sent again after the time that the answer asks for", async () => {
    const limited = json(429, { ok: false, error_code: 429, parameters: { retry_after: 90 } });
    const { heard, url } = await openDouble(limited, json(200, { ok: true }));
    const bench = await openOutboxBench([{ type: "telegram", url, token: "t", chat: 1 }]);
    bench.notices.raise(offline(1, { message: "<b> & </b>" }));
    await bench.pass(30);
    await bench.pass(89);
    expect(heard).toHaveLength(1);
    await bench.pass(1);
    expect(heard).toHaveLength(2);
    expect(JSON.parse(heard[1]?.body ?? "").text).toContain("&lt;b&gt; &amp; &lt;/b&gt;");
    const header = await openDouble(json(429, {}, { "retry-after": "120" }), json(200, { id: 1 }));
    const other = await openOutboxBench([{ type: "gotify", url: header.url, token: "t" }]);
    other.notices.raise(offline(1));
    await other.pass(30);
    await other.pass(119);
    expect(header.heard).toHaveLength(1);
    await other.pass(1);
    expect(header.heard).toHaveLength(2);
  });

  test("is sent again to Matrix with the same transaction id", async () => {
    const { heard, url } = await openDouble(
      json(429, { retry_after_ms: 5000 }),
      json(500, {}),
      json(200, { event_id: "$" }),
    );
    const bench = await openOutboxBench([{ type: "matrix", url, token: "t", room: "!r:e" }]);
    bench.notices.raise(offline(1));
    await bench.pass(30);
    await bench.pass(5);
    await bench.pass(10);
    await bench.pass(600);
    expect(heard).toHaveLength(3);
    expect(new Set(heard.map(({ path }) => path)).size).toBe(1);
  });

  test.each([
    ["500", json(500, {}), "answers 500"],
    [
      "a page of HTML",
      (response: Parameters<ReturnType<typeof json>>[0]) => response.end("<html>Log in</html>"),
      "not as this service answers",
    ],
    ["a redirect", json(302, {}, { location: "http://127.0.0.1/" }), "redirects are not followed"],
    [
      "a broken connection",
      (response: Parameters<ReturnType<typeof json>>[0]) => response.destroy(),
      "the connection broke off",
    ],
    ["too long an answer", json(200, "x".repeat(100_000)), "more than 64 KB"],
  ] as const)("with %s is tried again, except where that is final", async (_, answer, error) => {
    const { heard, url } = await openDouble(answer, json(200, { id: 1 }));
    const bench = await openOutboxBench([{ ...phone, url }]);
    bench.notices.raise(offline(1));
    await bench.pass(30);
    expect(bench.rows()[0]?.error).toContain(error);
    await bench.pass(600);
    const isFinal = error.startsWith("redirects");
    expect([heard.length, bench.rows()[0]?.state]).toEqual(isFinal ? [1, "failed"] : [2, "sent"]);
  });

  test("within ten seconds is tried again", async () => {
    jest.spyOn(AbortSignal, "timeout").mockImplementation(() => AbortSignal.abort());
    const { url } = await openDouble(() => undefined);
    const bench = await openOutboxBench([{ ...phone, url }]);
    bench.notices.raise(offline(1));
    await bench.pass(30);
    expect(bench.rows()[0]).toMatchObject({
      state: "waiting",
      error: expect.stringMatching(/does not answer in time$/),
    });
    jest.restoreAllMocks();
  });

  test("by Pushover with a 4xx is never sent again", async () => {
    const { heard, url } = await openDouble(json(429, { status: 0 }));
    const bench = await openOutboxBench([{ type: "pushover", url, token: "t", user: "u" }]);
    bench.notices.raise(offline(1));
    for (let turn = 0; turn < 10; turn += 1) await bench.pass(600);
    expect(heard).toHaveLength(1);
    expect(bench.rows()[0]?.state).toBe("failed");
  });

  test("for 24 hours is shown as not delivered, and its recovery is not sent", async () => {
    const { heard, url } = await openDouble(json(503, {}));
    const settings = { key: "phone", ...phone, url };
    const bench = await openOutboxBench([settings]);
    bench.notices.raise(offline(1));
    await bench.pass(30);
    bench.notices.close("disconnected:1", "It answers again");
    for (let turn = 0; turn < 24 * 6; turn += 1) await bench.pass(600);
    await bench.pass(giveUpMs / 1000);
    const tries = heard.length;
    expect(tries).toBeGreaterThan(100);
    await bench.pass(7200);
    expect(heard).toHaveLength(tries);
    const { listChannels } = await bench.operations();
    const [state] = await listChannels({}, caller);
    expect(state).toMatchObject({ key: "phone", type: "ntfy", waiting: 0, lastSentUtc: null });
    expect(state?.notDelivered.map(({ title, timeUtc, error }) => [title, timeUtc, error])).toContainEqual([
      "Disconnected",
      new Date(start).toISOString(),
      expect.stringMatching(/answers 503; given up after 24 hours$/),
    ]);
  });
});

test("nothing is ever sent to a forbidden address", async () => {
  const bench = await openOutboxBench([{ ...phone, url: "http://169.254.169.254" }]);
  bench.notices.raise(offline(1));
  await bench.pass(30);
  expect(bench.rows()[0]?.error).toBe("169.254.169.254 is an address to which nothing is sent");
});

test("the outbox is bounded, and drops the oldest info first", async () => {
  const bench = await openOutboxBench([{ ...phone, url: "http://127.0.0.1:9", from: "info" }]);
  bench.notices.raise(offline(1, { severity: "warning", title: "first" }));
  bench.notices.raise(offline(2, { severity: "info", title: "info", key: null }));
  for (let id = 3; id <= 10_002; id += 1) bench.notices.raise(offline(id));
  const titles = bench.rows().map(({ title }) => title);
  expect([titles.length, titles.includes("first"), titles.includes("info")]).toEqual([10_000, true, false]);
});
