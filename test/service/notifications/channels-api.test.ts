import { afterEach, expect, test } from "@jest/globals";
import { caller, closeBenches, openBench } from "../bench.ts";
import { openDouble } from "./doubles.ts";

afterEach(closeBenches);

/** A service with a phone in its configuration, whose clock and outbox the test moves. */
async function openFarm() {
  const clock = { now: Date.parse("2026-03-01T12:00:00Z") };
  const turns: (() => Promise<void>)[] = [];
  const bench = await openBench({
    rigs: [{ kind: "cgminer", warm: true }],
    clock: () => clock.now,
    config: {
      http: { port: 17_790 },
      groups: [{ name: "Garage" }],
      channels: [{ key: "phone", type: "ntfy", url: "http://127.0.0.1:9", topic: "farm-topic" }],
    },
    repeat: (work) => {
      turns.push(work);
      return () => turns.splice(turns.indexOf(work), 1);
    },
  });
  return {
    bench,
    pass: async (seconds: number): Promise<void> => {
      clock.now += seconds * 1000;
      for (const turn of turns) await turn();
    },
  };
}

const titles = (heard: readonly { readonly body: string }[]): string[] =>
  heard.map(({ body }) => JSON.parse(body).title);

test("a channel that is added over the API is told, changed, survives a restart, and is told nothing once it is removed", async () => {
  const [first, second] = await Promise.all([openDouble(), openDouble()]);
  const { bench, pass } = await openFarm();
  const added = await bench.service.addChannel(
    { key: "chat", type: "gotify", url: first.url, token: "gotify-secret", groups: ["Garage"] },
    caller,
  );
  expect(added).toMatchObject({ key: "chat", type: "gotify", owner: "store", problem: null, groups: ["Garage"] });
  expect(added.settings).toMatchObject({ token: "", url: first.url });
  await bench.restart();
  await bench.service.testChannel({ key: "chat" }, caller);
  expect(titles(first.heard)).toEqual(["Test of Rigbridge"]);
  expect(first.heard[0]?.headers).toMatchObject({ "x-gotify-key": "gotify-secret" });

  // The token is kept, and the groups go.
  const changed = await bench.service.changeChannel({ key: String(added.id), url: second.url, groups: null }, caller);
  expect(changed).toMatchObject({ id: added.id, groups: null });
  const id = await bench.add(bench.rig(0).address, { name: "Rig A" });
  bench.rig(0).powerOff();
  for (let read = 0; read < 3; read += 1) await bench.poll(id);
  await pass(30);
  expect(titles(second.heard)).toEqual(["Rig A: Disconnected"]);
  expect(second.heard[0]?.headers).toMatchObject({ "x-gotify-key": "gotify-secret" });

  await bench.rig(0).powerOn();
  await bench.poll(id);
  await bench.service.deleteChannel({ key: "chat" }, caller);
  await pass(60);
  expect([first.heard.length, second.heard.length]).toEqual([1, 1]);
  const ended = [...bench.store.outbox.rows()].filter(({ channel }) => channel === "chat");
  expect(ended.map(({ event, state, error }) => [event, state, error])).toEqual([
    ["alarm", "sent", null],
    ["recovery", "failed", "the channel is no longer configured"],
  ]);
  expect((await bench.service.listChannels({}, caller)).map(({ key }) => key)).toEqual(["phone"]);
});

test("all mistakes of a channel are named at once, and nothing is kept", async () => {
  const { bench } = await openFarm();
  const add = (channel: object) => bench.service.addChannel({ ...channel }, caller);
  const mistakes = (channel: object) =>
    add(channel).then(
      () => [],
      ({ errors }: { errors: { path: string; message: string }[] }) =>
        errors.map(({ path, message }) => `${path} ${message}`),
    );
  expect(
    await mistakes({
      key: "phone",
      type: "ntfy",
      url: "http://169.254.169.254",
      from: "loud",
      groups: ["Grage"],
      volume: 11,
    }),
  ).toEqual([
    "from must be one of info, warning, critical",
    expect.stringMatching(/^topic is missing/),
    expect.stringMatching(/unknown keys: volume/),
    'groups[0] there is no group "Grage"; did you mean "Garage"?',
    "key is the key of another channel",
    "url is an address that nothing is ever sent to",
  ]);
  expect(await mistakes({ key: "own", type: "slack", url: "http://localhost:17790/api/hooks/a" })).toEqual([
    "url must not be the address of this service",
  ]);
  expect(
    await mistakes({
      key: "mail",
      type: "mail",
      host: "169.254.169.254",
      username: "u",
      sender: "a@b.example",
      to: [],
    }),
  ).toEqual([
    expect.stringMatching(/^to /),
    "password is missing: a login needs username and password",
    "host is an address that nothing is ever sent to",
  ]);
  expect(await mistakes({ type: "pigeon", from: "loud" })).toEqual([
    expect.stringMatching(/^type .*ntfy/),
    "key is required",
    expect.stringMatching(/^from must be one of info/),
  ]);
  expect((await bench.service.listChannels({}, caller)).map(({ key }) => key)).toEqual(["phone"]);
  const { key } = await add({ key: "chat", type: "gotify", url: "http://127.0.0.1:9", token: "t" });
  await expect(bench.service.changeChannel({ key, from: "loud", topic: "t" }, caller)).rejects.toMatchObject({
    code: "input.invalid",
    errors: [{ path: "from" }, { path: "" }],
  });
  expect((await bench.service.listChannels({}, caller))[1]).toMatchObject({ from: "warning" });
});

test("a channel of the file, and one that rules or schedules use, stays", async () => {
  const { bench } = await openFarm();
  const { service } = bench;
  const refused = (code: string, message: RegExp) => ({ code, message: expect.stringMatching(message) });
  await expect(service.deleteChannel({ key: "phone" }, caller)).rejects.toMatchObject({ code: "owned.by-file" });
  await expect(service.changeChannel({ key: "phone", from: "info" }, caller)).rejects.toMatchObject({
    code: "owned.by-file",
  });
  await service.addChannel({ key: "chat", type: "gotify", url: "http://127.0.0.1:9", token: "t" }, caller);
  const notify = { notify: "chat", text: "hello", severity: "info" as const };
  const { id } = await service.addRule({ key: "night", do: [notify] }, caller);
  await service.addSchedule({ key: "dawn", cron: "0 3 * * *", do: [notify] }, caller);
  await expect(service.deleteChannel({ key: "chat" }, caller)).rejects.toMatchObject(
    refused("in.use", /^Channel chat is still used by rule night, schedule dawn$/),
  );
  await service.deleteRule({ id: String(id) }, caller);
  await service.deleteSchedule({ id: "dawn" }, caller);
  await service.deleteChannel({ key: "chat" }, caller);
  await expect(service.addRule({ key: "later", do: [notify] }, caller)).rejects.toMatchObject({
    errors: [{ message: expect.stringMatching(/there is no channel "chat"/) }],
  });
});

test("a key that the file declares later is the file's; the other is listed with the reason, and can be removed by its id", async () => {
  const { bench } = await openFarm();
  const { id } = await bench.service.addChannel(
    { key: "chat", type: "gotify", url: "http://127.0.0.1:9", token: "t" },
    caller,
  );
  await bench.restart({ channels: [{ key: "chat", type: "ntfy", url: "http://127.0.0.1:9", topic: "t" }] });
  const list = async () =>
    (await bench.service.listChannels({}, caller)).map(({ key, type, problem }) => [key, type, problem]);
  const hidden = "the configuration file declares a channel with this key";
  expect(await list()).toEqual([
    ["chat", "gotify", hidden],
    ["chat", "ntfy", null],
  ]);
  await bench.service.deleteChannel({ key: String(id) }, caller);
  expect(await list()).toEqual([["chat", "ntfy", null]]);
});
