import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, test } from "@jest/globals";
import type { Messages } from "../../src/contract/messages.ts";
import type { Caller } from "../../src/contract/service.ts";
import type { RigSpec } from "../../src/simulator/index.ts";
import { startPlug } from "../../src/simulator/index.ts";
import { stoppedClock } from "../clock.ts";
import { problem, refusal } from "../errors.ts";
import { until } from "../until.ts";
import { closeRunBenches, messagesOf, openRunBench, type RunBench, statesOf } from "./run-bench.ts";

afterEach(closeRunBenches);

const axeos: RigSpec = { kind: "axeos", warm: true, restartSeconds: 0 };
const locate = { action: "locate", on: true };
const frequency = { set: "frequency", value: 500 };
const notice = { notify: "phone", text: "{{ rule.key }} has run" };
const noticeOfMiner = { notify: "phone", severity: "critical", text: "{{ miner.name }} is too hot" };

const notices = ({ store }: RunBench) => store.notifications.list().map(({ message }) => message);
/** The kinds of what a rig was told. */
const told = (bench: RunBench, index = 0) =>
  bench.writes(index).map((write) => (write.includes("identify") ? "locate" : "set"));

async function user(bench: RunBench, more: object): Promise<Caller> {
  const blank = { name: "ann", keyHash: null, privilege: "administrator", groups: null, pools: null } as const;
  const { id } = await bench.store.users.add({ ...blank, ...more });
  return { actor: "rule:too-hot for ann", userId: id };
}

describe("a run", () => {
  test("takes its steps in order on each miner, and records each with its command, which names the run", async () => {
    const bench = await openRunBench({ rigs: [axeos, axeos] });
    const record = await bench.run([locate, frequency, noticeOfMiner]);
    expect(record).toMatchObject({ state: "done", cause: { kind: "rule", key: "too-hot", id: 1 } });
    expect(statesOf(record)).toEqual(["done done done", "done done done"]);
    expect([told(bench, 0), told(bench, 1)]).toEqual([
      ["locate", "set"],
      ["locate", "set"],
    ]);
    expect(notices(bench).toSorted()).toEqual(["rig 0 is too hot", "rig 1 is too hot"]);
    const commands = await bench.store.commands.list();
    expect(commands).toHaveLength(4);
    for (const { actor, cause } of commands)
      expect([actor, cause]).toEqual(["rule:too-hot", { kind: "rule", key: "too-hot", id: 1, run: record.id }]);
    const [first] = record.miners[0]?.steps ?? [];
    expect(commands.some(({ id }) => id === first?.commandId)).toBe(true);
  });

  test("of an occurrence that was begun is not begun again, also after a restart", async () => {
    const bench = await openRunBench({ rigs: [axeos] });
    await bench.run([locate], { occurrence: "too-hot 1 7" });
    const again = () =>
      bench.automation.runs.begin({
        cause: { kind: "rule", key: "too-hot", id: 1 },
        occurrence: "too-hot 1 7",
        caller: { actor: "rule:too-hot" },
        minerIds: bench.ids,
        steps: [{ action: "locate", on: true }],
      });
    expect(await again()).toBe("seen");
    await bench.restart();
    expect(await again()).toBe("seen");
    expect(told(bench)).toEqual(["locate"]);
  });

  test("sends the steps of templates and rules in their place, and not those of rules that call each other", async () => {
    const bench = await openRunBench({ rigs: [axeos], config: { templates: [{ name: "eco", do: [frequency] }] } });
    const made = { manual: false, makerId: null };
    await bench.store.rules.add({ ...made, name: "find", do: [{ action: "locate", on: true }, { template: "eco" }] });
    await bench.store.rules.add({ ...made, name: "loop", do: [{ action: "locate", on: false }, { rule: "loop" }] });
    expect(statesOf(await bench.run([{ rule: "find" }]))).toEqual(["done done"]);
    expect(told(bench)).toEqual(["locate", "set"]);
    const looped = await bench.run([{ rule: "loop" }]);
    expect(looped.state).toBe("failed");
    expect(messagesOf(looped).at(-1)).toContain("is called more than 5 lists deep");
    const missing = await bench.run([{ rule: "nowhere" }, { template: "none" }]);
    expect(messagesOf(missing)).toEqual([
      "There is no rule nowhere, or there are several",
      "There is no template none, or there are several",
    ]);
  });

  test("goes on after a step that failed for certain", async () => {
    const bench = await openRunBench({ rigs: [axeos] });
    const record = await bench.run([{ set: "mode", value: "eco" }, { pool: "nowhere" }, locate]);
    expect(record.state).toBe("failed");
    expect(statesOf(record)).toEqual(["failed failed done"]);
    expect(messagesOf(record)).toEqual([
      expect.stringContaining('This rig has no control "mode"'),
      'There is no pool "nowhere"',
      expect.any(String),
    ]);
  });

  test("without miners runs the steps that need none", async () => {
    const bench = await openRunBench({ rigs: [axeos] });
    const record = await bench.run([notice, locate], { minerIds: [] });
    expect(record.miners.map(({ minerId }) => minerId)).toEqual([null]);
    expect(statesOf(record)).toEqual(["done failed"]);
    expect(notices(bench)).toEqual(["too-hot has run"]);
  });

  test("takes a step once for all miners if its text names none of them", async () => {
    const bench = await openRunBench({ rigs: [axeos, axeos, axeos] });
    const record = await bench.run([notice]);
    expect(statesOf(record)).toEqual(["done", "done", "done"]);
    expect(notices(bench)).toEqual(["too-hot has run"]);
  });

  test("chooses the most profitable power, or says that it is not known", async () => {
    const bench = await openRunBench({ rigs: [axeos] });
    const record = await bench.run([{ set: "power_target", value: "best" }]);
    expect(messagesOf(record)).toEqual(["The most profitable power of this miner is not known"]);
  });
});

describe("after a restart of the service", () => {
  /** Ends the service as soon as the rig has got a write, before it answers. */
  async function stoppedAtWrite(steps: readonly object[], options: Parameters<RunBench["begin"]>[1] = {}) {
    const bench = await openRunBench({ rigs: [axeos] });
    const [rig] = bench.farm.rigs;
    const writes: string[] = rig?.requests.writes ?? [];
    writes.push = (...items: string[]) => {
      if (rig !== undefined) rig.fault = { name: "delay", ms: 5_000 };
      return Array.prototype.push.apply(writes, items);
    };
    const { id } = await bench.begin(steps, options);
    await until(() => writes.length > 0, "the rig to be told");
    if (rig !== undefined) rig.fault = null;
    await bench.restart();
    return { bench, record: await bench.automation.runs.ended(id) };
  }

  test("a step that was sent and not answered is unknown, and nothing more is sent to that miner", async () => {
    const { bench, record } = await stoppedAtWrite([locate, frequency, noticeOfMiner]);
    expect(statesOf(record)).toEqual(["unknown skipped done"]);
    expect(record.state).toBe("unknown");
    expect(messagesOf(record)[1]).toBe(
      "The outcome of an earlier step is unknown, so nothing more is sent to this miner",
    );
    expect(told(bench)).toEqual(["locate"]);
    expect(notices(bench)).toEqual(["rig 0 is too hot"]);
  });

  test("a signal of a place ends, whether or not its first step was answered", async () => {
    const steps = [locate, { wait: 1 }, { action: "locate", on: false }];
    const { record } = await stoppedAtWrite(steps, { cause: { kind: "bulk", key: "locate", id: 0 } });
    expect(statesOf(record)).toEqual(["unknown done done"]);
  });

  test("a wait goes on, and the steps after it are sent once", async () => {
    const clock = stoppedClock();
    const bench = await openRunBench({ rigs: [axeos], clock: clock.now });
    const { id } = await bench.begin([locate, { wait: "2h" }, frequency]);
    const waits = async () => messagesOf(await bench.automation.runs.record(id))[1]?.startsWith("Waits until") === true;
    await until(waits, "the run to wait");
    clock.pass(3600);
    await bench.restart();
    await until(waits, "the run to wait again");
    expect(told(bench)).toEqual(["locate"]);
    clock.pass(3700);
    await bench.restart();
    const record = await bench.automation.runs.ended(id);
    expect(statesOf(record)).toEqual(["done done done"]);
    expect(told(bench)).toEqual(["locate", "set"]);
  });

  test("each of several waits lasts as long as it says", async () => {
    const clock = stoppedClock();
    const bench = await openRunBench({ rigs: [axeos], clock: clock.now });
    const { id } = await bench.begin([{ wait: "1h" }, locate, { wait: "1h" }, frequency]);
    const notes = async () => messagesOf(await bench.automation.runs.record(id));
    const inAnHour = () => `Waits until ${new Date(clock.now() + 3_600_000).toISOString()}`;
    await until(async () => (await notes())[0] === inAnHour(), "the first wait");
    clock.pass(3601);
    await bench.restart();
    await until(async () => (await notes())[2] === inAnHour(), "the second wait");
    expect(told(bench)).toEqual(["locate"]);
    await bench.automation.runs.cancel(id, "enough");
    expect(statesOf(await bench.automation.runs.ended(id))).toEqual(["done done skipped skipped"]);
  });

  test("a run that is cancelled while it waits sends nothing more", async () => {
    const clock = stoppedClock();
    const bench = await openRunBench({ rigs: [axeos], clock: clock.now });
    const { id } = await bench.begin([{ wait: "10m" }, locate]);
    await until(async () => messagesOf(await bench.automation.runs.record(id))[0] !== "", "the run to wait");
    await bench.automation.runs.cancel(id, "not any more");
    expect((await bench.automation.runs.ended(id)).state).toBe("cancelled");
    expect(statesOf(await bench.automation.runs.record(id))).toEqual(["skipped skipped"]);
    expect(told(bench)).toEqual([]);
  });
});

describe("who comes first on a rig's power", () => {
  const eco = { set: "power_target", value: 15 };
  const record = (bench: RunBench, steps: object[], safety?: true) =>
    bench.run(steps, { cause: { kind: "rule", key: "too-hot", id: 1, ...(safety ? { safety } : {}) } });
  const byPerson = (bench: RunBench, action: "stop" | "start") =>
    bench.commands.runOnRig({ id: bench.ids[0] ?? 0, action }, { actor: "anna" });
  /** Rigs that may be stopped and started at once. */
  const config = { power: { minOn: 0, minOff: 0, changesPerHour: 100 } };

  test("a rule is held back by a person, says so, and is not by a setting that is older than an hour", async () => {
    const clock = stoppedClock();
    const bench = await openRunBench({ rigs: [axeos], clock: clock.now, config });
    await byPerson(bench, "stop");
    const held = await record(bench, [{ action: "start" }, locate]);
    expect(statesOf(held)).toEqual(["skipped done"]);
    expect(messagesOf(held)[0]).toBe("Held back: anna controls the power of this miner until it is started again");
    await byPerson(bench, "start");
    expect(messagesOf(await record(bench, [{ action: "stop" }]))[0]).toMatch(/^Held back: anna .* until 20/);
    clock.pass(3601);
    expect((await record(bench, [{ action: "stop" }])).state).toBe("done");
    expect(bench.farm.rigs[0]?.model.mining).toBe(false);
  });

  test("a safety rule comes before a person, who waits ten minutes to start the rig again", async () => {
    const clock = stoppedClock();
    const bench = await openRunBench({ rigs: [axeos], clock: clock.now, config });
    await bench.commands.runOnRig(
      { id: bench.ids[0] ?? 0, action: "set", property: "frequency", value: "500" },
      { actor: "anna" },
    );
    await byPerson(bench, "stop");
    await byPerson(bench, "start");
    expect((await record(bench, [{ action: "stop" }], true)).state).toBe("done");
    expect(await refusal(byPerson(bench, "start"))).toBe("not.possible");
    clock.pass(601);
    expect(await refusal(byPerson(bench, "start"))).toBe("done");
    expect(messagesOf(await record(bench, [eco])).join()).toContain("Held back: anna");
  });
});

describe("rights", () => {
  const messages = (published: string[]): Messages => ({
    isConfigured: true,
    listen: () => () => undefined,
    publish: (topic, payload, retain = false) => published.push(`${topic} ${payload} ${retain}`) > 0,
  });

  test("of a maker who was removed or demoted end with that: nothing more is sent", async () => {
    const bench = await openRunBench({ rigs: [axeos] });
    const ann = await user(bench, {});
    const { id } = await bench.begin([{ wait: "1s" }, locate], { caller: ann });
    await bench.store.users.change(ann.userId ?? 0, { privilege: "control" });
    const demoted = "The rule too-hot is disabled: the user who made it is no longer an administrator";
    const record = await bench.automation.runs.ended(id);
    expect([record.state, messagesOf(record)[1]]).toEqual(["cancelled", demoted]);
    expect((await problem(bench.begin([locate], { caller: ann }))).message).toBe(demoted);
    await bench.store.users.remove(ann.userId ?? 0);
    expect((await problem(bench.begin([locate], { caller: ann }))).message).toBe(
      "The rule too-hot is disabled: the user who made it was removed",
    );
    expect(told(bench)).toEqual([]);
  });

  test("do not grow by calling what another made", async () => {
    const bench = await openRunBench({ rigs: [axeos], config: { automation: { programs: true } } });
    const ann = await user(bench, {});
    const bob = await user(bench, { name: "bob" });
    const row = { name: "bobs", do: [{ action: "locate" as const, on: true }], manual: false };
    await bench.store.rules.add({ ...row, makerId: bob.userId ?? null });
    const call = [{ rule: "bobs" }];
    expect(messagesOf(await bench.run(call))).toEqual(["The rule bobs belongs to another user"]);
    expect(messagesOf(await bench.run(call, { caller: ann }))).toEqual(["The rule bobs belongs to another user"]);
    expect(told(bench)).toEqual([]);
    expect((await bench.run(call, { caller: bob })).state).toBe("done");
  });

  test("reach the miners that the maker sees", async () => {
    const bench = await openRunBench({ rigs: [axeos] });
    const { id } = await bench.store.groups.add({ name: "Hall", parentId: 0 });
    const record = await bench.run([locate], { caller: await user(bench, { groups: [id] }) });
    expect(messagesOf(record)).toEqual([expect.stringContaining("no longer exists")]);
    expect(told(bench)).toEqual([]);
  });

  test("keep messages from the topics of others, and from where the service takes commands", async () => {
    const published: string[] = [];
    const bench = await openRunBench({
      rigs: [axeos],
      messages: messages(published),
      config: { mqtt: { url: "mqtt://127.0.0.1:1", plugTopics: ["farm/+/set"] } },
    });
    const to = (publish: string, caller?: Caller) =>
      bench.run([{ publish, payload: "{{ miner.name }}" }], caller === undefined ? {} : { caller });
    const ann = await user(bench, {});
    expect(messagesOf(await to("rigbridge/miners/x/set"))).toEqual([expect.stringContaining("mqtt.base")]);
    expect(messagesOf(await to("siren/set", ann))).toEqual([expect.stringContaining("mqtt.plugTopics")]);
    expect((await to("farm/siren/set", ann)).state).toBe("done");
    expect((await to("siren/set")).state).toBe("done");
    expect(published).toEqual(["farm/siren/set rig 0 false", "siren/set rig 0 false"]);
  });

  test("keep web hooks from this service and from addresses that nothing is sent to", async () => {
    const bench = await openRunBench({ rigs: [axeos], config: { http: { port: 17_790 } } });
    const to = async (webhook: string, caller?: Caller) =>
      messagesOf(await bench.run([{ webhook }], caller === undefined ? {} : { caller }))[0];
    expect(await to("http://localhost:17790/api/miners")).toBe("webhook must not be the address of this service");
    expect(await to("http://[::1]:17790/")).toBe("webhook must not be the address of this service");
    const ann = await user(bench, {});
    expect(await to("http://169.254.169.254/latest", ann)).toBe("webhook is an address that nothing is ever sent to");
    const record = await bench.run([{ webhook: "http://hooks.example/", headers: { Authorization: "Bearer secret" } }]);
    expect(JSON.stringify(record)).not.toContain("secret");
  });

  test("let rules run programs only where the file says so, without a shell and without secrets", async () => {
    const closed = await openRunBench({ rigs: [axeos] });
    const print = {
      run: [process.execPath, "-e", "console.log(process.argv[1], process.env.RIGBRIDGE_SECRET)", "$(id)"],
    };
    expect(messagesOf(await closed.run([print]))).toEqual([expect.stringContaining("run is off")]);
    const bench = await openRunBench({ rigs: [axeos], config: { automation: { programs: true } } });
    process.env.RIGBRIDGE_SECRET = "hidden";
    try {
      const [said] = messagesOf(await bench.run([print]));
      expect(said).toBe("$(id) undefined");
    } finally {
      delete process.env.RIGBRIDGE_SECRET;
    }
    const failed = await bench.run([
      { run: [process.execPath, "-e", "process.exit(3)"] },
      { run: ["/no/such/program"] },
    ]);
    expect(messagesOf(failed)).toEqual([expect.stringContaining("code 3"), expect.stringContaining("cannot be run")]);
    const { id } = await bench.store.groups.add({ name: "Hall", parentId: 0 });
    const limited = await bench.run([print], { caller: await user(bench, { groups: [id] }) });
    expect(messagesOf(limited)).toEqual(["run needs a user with access to all groups and pools"]);
  });
});

describe("a web hook", () => {
  async function server(answer: (response: ServerResponse) => void) {
    const requests: string[] = [];
    const listening = createServer(async (request, response) => {
      const { method, url, headers } = request;
      requests.push(`${method} ${url} ${headers["content-type"]} ${headers["x-key"]} ${await text(request)}`);
      answer(response);
    });
    listening.listen(0, "127.0.0.1");
    await once(listening, "listening");
    const address = listening.address();
    if (address === null || typeof address === "string") throw new Error("it listens on a port");
    return { requests, port: address.port, close: () => listening.close() };
  }

  test("is one request with its text, which is done when it is answered", async () => {
    const bench = await openRunBench({ rigs: [axeos] });
    const { requests, port, close } = await server((response) => response.writeHead(204).end());
    const hook = { webhook: `http://localhost:${port}/a?token=hidden`, headers: { "x-key": "k" } };
    const record = await bench.run([{ ...hook, body: '{"text": "{{ miner.name }}"}' }]);
    expect([record.state, messagesOf(record)]).toEqual(["done", [`localhost:${port} answered 204`]]);
    expect(requests).toEqual(['POST /a?token=hidden application/json k {"text": "rig 0"}']);
    close();
  });

  test("that is refused, not answered or not reached says so, and is not repeated", async () => {
    const bench = await openRunBench({ rigs: [axeos] });
    const { requests, port, close } = await server((response) =>
      requests.length === 1 ? response.writeHead(302, { location: "http://127.0.0.1/" }).end() : response.destroy(),
    );
    const hook = { webhook: `http://127.0.0.1:${port}/token`, method: "GET" };
    const record = await bench.run([hook, { ...hook, method: "PUT", body: "on" }, { webhook: "http://127.0.0.1:1/" }]);
    expect(statesOf(record)).toEqual(["failed unknown failed"]);
    expect(messagesOf(record)).toEqual([
      `127.0.0.1:${port} answered 302`,
      `127.0.0.1:${port} received the request but did not answer: the connection broke off`,
      "127.0.0.1:1 cannot be reached: nothing listens there",
    ]);
    expect(requests.map((request) => request.split(" ")[0])).toEqual(["GET", "PUT"]);
    close();
  });
});

describe("the plug of a miner", () => {
  test("is switched off and on again, also when the rig does not answer", async () => {
    const bench = await openRunBench({ rigs: [axeos] });
    const [rig] = bench.farm.rigs;
    if (rig === undefined) throw new Error("there is a rig");
    expect(messagesOf(await bench.run([{ plug: "off" }]))).toEqual(["This miner has no plug: set its supply"]);
    const plug = await startPlug({ kind: "shelly2", rig });
    try {
      const [id = 0] = bench.ids;
      const supply = { type: "shelly", address: plug.address, channel: 0, cutPower: false, delay: 0 } as const;
      bench.put(await bench.store.miners.change(id, { supply }));
      rig.fault = "silent";
      const record = await bench.run([{ plug: "cycle", wait: "1s" }]);
      expect(statesOf(record)).toEqual(["done done done"]);
      expect([plug.switched, plug.on]).toEqual([2, true]);
      expect((await bench.store.commands.list()).map(({ action }) => action)).toEqual(["plug", "plug"]);
    } finally {
      await plug.close();
    }
  });
});
