import { once } from "node:events";
import { readFile, readlink } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { platformOf } from "../../src/agent/platform/index.ts";
import { FromAgent } from "../../src/contract/agent.ts";
import { onTestFinished } from "../finished.ts";
import { until } from "../until.ts";
import { doubleProgram, isRunning, logOf, pool, processesIn, startHost } from "./host.ts";

test("a program runs in a folder, group and environment of its own, and its API takes only its own token", async () => {
  process.env.RIGBRIDGE_AGENT_TOKEN = "the-token-of-this-agent";
  onTestFinished(() => {
    delete process.env.RIGBRIDGE_AGENT_TOKEN;
  });
  const host = await startHost();
  host.send({ t: "programs", programs: [doubleProgram(host.path)] });
  const { pid, apiPort, apiToken, starts, message } = await host.untilStatus("running");
  expect({ starts, message }).toEqual({ starts: 1, message: null });
  expect(await readlink(`/proc/${pid}/cwd`)).toBe(join(host.folder, "runs", "1"));
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const [, , group, session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  expect([Number(group), Number(session)]).toEqual([pid, pid]);
  const environment = await readFile(`/proc/${pid}/environ`, "utf8");
  expect(environment).toContain("CUDA_DEVICE_ORDER=PCI_BUS_ID");
  expect(environment).not.toContain("the-token-of-this-agent");
  const summary = (token: string | null) =>
    fetch(
      `http://127.0.0.1:${apiPort}/2/summary`,
      token === null ? {} : { headers: { authorization: `Bearer ${token}` } },
    );
  expect((await summary(null)).status).toBe(401);
  expect((await summary(apiToken)).status).toBe(200);
  for (const each of host.messages) FromAgent.parse(each);
});

test("the log has the program's output, and its command line without secrets", async () => {
  const host = await startHost();
  host.send({ t: "programs", programs: [doubleProgram(host.path)] });
  const { apiToken } = await host.untilStatus("running");
  const [first = "", ...output] = (await logOf(host.folder)).split("\n");
  expect(first).toContain("-a rx/0");
  expect(first).not.toContain(pool.password);
  expect(first).not.toContain(apiToken);
  expect(output.join("\n")).toContain("mining double, process");
});

test("a program that is killed is started again", async () => {
  const host = await startHost();
  host.send({ t: "programs", programs: [doubleProgram(host.path)] });
  const { pid } = await host.untilStatus("running");
  process.kill(pid ?? 0, "SIGKILL");
  await until(() => host.state()?.starts === 2, "the second start");
  const again = await host.untilStatus("running");
  expect(again.pid).not.toBe(pid);
  expect(again.exit).toMatchObject({ code: null, signal: "SIGKILL" });
  expect(await processesIn(host.folder)).toEqual([again.pid]);
});

test("what a killed program leaves running is ended before it is started again", async () => {
  const host = await startHost();
  host.send({ t: "programs", programs: [doubleProgram(host.path, { parameters: "--double-child" })] });
  const { pid } = await host.untilStatus("running");
  const before = await processesIn(host.folder);
  expect(before).toHaveLength(2);
  process.kill(pid ?? 0, "SIGKILL");
  await until(() => host.state()?.starts === 2, "the second start");
  const after = await processesIn(host.folder);
  expect(after.filter((each) => before.includes(each))).toEqual([]);
});

test("a program that ignores SIGINT and SIGTERM is killed with all that it started", async () => {
  const real = platformOf();
  // A program that stands still has not ignored a signal yet: patience begins once it has got it.
  const signalGroup: typeof real.signalGroup = async (pid, signal) => {
    await real.signalGroup(pid, signal);
    if (signal === "SIGKILL") return;
    await until(async () => (await logOf(host.folder)).includes(`got ${signal}`), `the program to get ${signal}`);
  };
  const host = await startHost({ options: { platform: { ...real, signalGroup } } });
  const parameters = "--double-stubborn --double-child";
  host.send({ t: "programs", programs: [doubleProgram(host.path, { parameters })] });
  await host.untilStatus("running");
  const { message } = await host.ask({ t: "stop", id: 1 });
  expect(message).toBe("Double (XmrigMiner) is stopped");
  expect(await processesIn(host.folder)).toEqual([]);
  expect(host.state()).toMatchObject({ status: "stopped", pid: null, apiPort: null, exit: { signal: "SIGKILL" } });
  const log = await logOf(host.folder);
  expect(log.indexOf("got SIGINT")).toBeGreaterThan(0);
  expect(log.indexOf("got SIGTERM")).toBeGreaterThan(log.indexOf("got SIGINT"));
});

test("a program that no signal ends is reported, and no second one is started beside it until it is gone", async () => {
  // Only a hanging driver survives SIGKILL, so the ladder ends one step earlier here.
  const platform = { ...platformOf(), stopSignals: ["SIGINT", "SIGTERM"] } as const;
  const limits = { stop: { patienceMs: 200, killMs: 200 } };
  const host = await startHost({ options: { platform }, limits });
  host.send({ t: "programs", programs: [doubleProgram(host.path, { parameters: "--double-stubborn" })] });
  const { pid } = await host.untilStatus("running");
  const stopped = await host.ask({ t: "stop", id: 1 });
  expect(stopped.error).toMatchObject({
    code: "program.hangs",
    message: expect.stringContaining("Double (XmrigMiner) does not end, even after SIGKILL"),
  });
  expect((await host.ask({ t: "start", id: 1 })).error).toMatchObject({ code: "program.hangs" });
  expect(host.state()).toMatchObject({ status: "stopping", pid });
  expect(await processesIn(host.folder)).toEqual([pid]);
  process.kill(pid ?? 0, "SIGKILL");
  const again = await host.untilStatus("running");
  expect(again.pid).not.toBe(pid);
  expect(await processesIn(host.folder)).toEqual([again.pid]);
});

test("a program that ends at once answers the start with its last line; the agent gives up after five times", async () => {
  const host = await startHost();
  const program = doubleProgram(host.path, { running: false, parameters: "--double-end-after 0 --double-code 7" });
  host.send({ t: "programs", programs: [program] });
  const { error } = await host.ask({ t: "start", id: 1 });
  expect(error).toMatchObject({ code: "program.ended" });
  expect(error?.message).toMatch(/^Double \(XmrigMiner\) ended \(exit code 7\); its last line: algorithm rx\/0/);
  const { message, lastLines, starts, exit } = await host.untilStatus("failed");
  expect(starts).toBe(5);
  expect(exit).toMatchObject({ code: 7 });
  expect(message).toContain("ended 5 times within 120 s of its start");
  expect(lastLines.at(-1)).toContain("password ***");
  expect(JSON.stringify(lastLines)).not.toContain(pool.password);
  expect(await processesIn(host.folder)).toEqual([]);
});

test("a program that rejects its configuration is not started again until somebody changes or starts it", async () => {
  const host = await startHost();
  const parameters = "--double-end-after 0 --double-code 2";
  host.send({ t: "programs", programs: [doubleProgram(host.path, { parameters })] });
  const { message, starts } = await host.untilStatus("failed");
  expect(starts).toBe(1);
  expect(message).toContain("rejects its configuration (exit code 2)");
  host.send({ t: "programs", programs: [doubleProgram(host.path, { parameters })] });
  const { error } = await host.ask({ t: "start", id: 1 });
  expect(error?.message).toContain("rejects its configuration");
  expect(host.state()?.starts).toBe(1);
  host.send({ t: "programs", programs: [doubleProgram(host.path)] });
  expect(await host.untilStatus("running")).toMatchObject({ starts: 2, message: null, lastLines: [] });
});

test("a program that was given up stays so over a restart of the agent, and a stop ends that", async () => {
  const first = await startHost();
  const program = doubleProgram(first.path, { parameters: "--double-end-after 0 --double-code 2" });
  first.send({ t: "programs", programs: [program] });
  const { message, starts } = await first.untilStatus("failed");
  await first.agent.close();
  const host = await startHost({ folder: first.folder });
  host.send({ t: "programs", programs: [program] });
  expect(host.state()).toMatchObject({ status: "failed", message, starts });
  expect((await host.ask({ t: "stop", id: 1 })).error).toBeUndefined();
  expect(await host.untilStatus("stopped")).toMatchObject({ message: null, lastLines: [] });
  await host.agent.close();
  const last = await startHost({ folder: first.folder });
  last.send({ t: "programs", programs: [{ ...program, running: false }] });
  expect(last.state()).toMatchObject({ status: "stopped", starts });
});

test("a restart that was asked for keeps what the program printed before", async () => {
  const host = await startHost();
  host.send({ t: "programs", programs: [doubleProgram(host.path)] });
  await host.untilStatus("running");
  expect(host.state()?.lastLines).toEqual([]);
  await host.ask({ t: "restart", id: 1 });
  await until(() => host.state()?.starts === 2, "the second start");
  expect(host.state()?.lastLines.join("\n")).toContain("algorithm");
  expect(JSON.stringify(host.state())).not.toContain(pool.password);
});

test("a program whose port another process has taken gets another port", async () => {
  const host = await startHost();
  host.send({ t: "programs", programs: [doubleProgram(host.path, { parameters: "--double-mute" })] });
  await until(() => (host.state()?.apiPort ?? null) !== null, "the start");
  const taken = host.state()?.apiPort ?? 0;
  const thief = createServer((socket) => socket.destroy()).listen(taken, "127.0.0.1");
  onTestFinished(async () => {
    thief.close();
  });
  await once(thief, "listening");
  await until(() => host.state()?.starts === 2 && host.state()?.apiPort !== null, "the second start");
  expect(host.state()?.apiPort).not.toBe(taken);
});

test("repeated and crossing messages never start a program twice", async () => {
  const host = await startHost();
  const programs = [doubleProgram(host.path)];
  for (let times = 0; times < 5; times += 1) host.send({ t: "programs", programs });
  const starts = [1, 2, 3, 4].map(() => host.ask({ t: "start", id: 1 }));
  for (const { message } of await Promise.all(starts)) expect(message).toBe("Double (XmrigMiner) is running");
  expect(host.state()?.starts).toBe(1);
  expect(await processesIn(host.folder)).toHaveLength(1);
  await Promise.all([
    host.ask({ t: "restart", id: 1 }),
    host.ask({ t: "stop", id: 1 }),
    host.ask({ t: "start", id: 1 }),
  ]);
  await host.untilStatus("running");
  expect(await processesIn(host.folder)).toEqual([host.state()?.pid]);
});

test("a restart ends the program first", async () => {
  const host = await startHost();
  host.send({ t: "programs", programs: [doubleProgram(host.path)] });
  const { pid } = await host.untilStatus("running");
  expect((await host.ask({ t: "restart", id: 1 })).message).toBe("Double (XmrigMiner) is running");
  expect(host.state()?.pid).not.toBe(pid);
  expect(await isRunning(pid ?? 0)).toBe(false);
  expect(await processesIn(host.folder)).toEqual([host.state()?.pid]);
});

test("another command line restarts the program, another name does not", async () => {
  const host = await startHost();
  host.send({ t: "programs", programs: [doubleProgram(host.path)] });
  const { pid } = await host.untilStatus("running");
  host.send({ t: "programs", programs: [doubleProgram(host.path, { name: "Other" })] });
  expect((await host.ask({ t: "start", id: 1 })).message).toBe("Other (XmrigMiner) is running");
  expect(host.state()?.pid).toBe(pid);
  const pools = [{ ...pool, url: "stratum+tcp://other.example:4444" }];
  host.send({ t: "programs", programs: [doubleProgram(host.path, { pools })] });
  await until(() => ![null, pid].includes(host.state()?.pid ?? null), "the second start");
  await host.untilStatus("running");
  expect(await logOf(host.folder)).toContain("pools stratum+tcp://other.example:4444");
  expect(await processesIn(host.folder)).toHaveLength(1);
});

test("programs that are no longer listed are ended and forgotten", async () => {
  const host = await startHost();
  host.send({ t: "programs", programs: [doubleProgram(host.path), doubleProgram(host.path, { id: 2 })] });
  await host.untilStatus("running", 1);
  const kept = await host.untilStatus("running", 2);
  host.send({ t: "programs", programs: [doubleProgram(host.path, { id: 2 })] });
  await until(async () => (await processesIn(host.folder)).length === 1, "the first program to end");
  expect(await processesIn(host.folder)).toEqual([kept.pid]);
  await until(
    async () => !(await readFile(join(host.folder, "state.json"), "utf8")).includes('"id":1,'),
    "its state to go",
  );
  expect((await host.ask({ t: "start", id: 1 })).error).toMatchObject({ code: "not.found" });
});

test("reports go to the newest connection, whose hello may be ready before that of an earlier one", async () => {
  const reads: PromiseWithResolvers<[]>[] = [];
  const read = (): Promise<[]> => {
    const next = Promise.withResolvers<[]>();
    reads.push(next);
    if (reads.length === 1) next.resolve([]);
    return next.promise;
  };
  const host = await startHost({ options: { gpuReader: { read } }, limits: { intervalMs: 3_600_000 } });
  const connection = () => {
    const messages: FromAgent[] = [];
    const link = { send: (message: FromAgent) => void messages.push(message), sendFrame: () => undefined, waiting: 0 };
    return { messages, service: host.agent.connected(link) };
  };
  const [earlier, newest] = [connection(), connection()];
  reads[2]?.resolve([]);
  await until(() => newest.messages.length === 1, "the newest connection to be introduced");
  reads[1]?.resolve([]);
  await nextTurn();
  newest.service.message({ t: "programs", programs: [doubleProgram(host.path)] });
  await until(
    () => newest.messages.some((each) => each.t === "program" && each.program.status === "running"),
    "the state of the program",
  );
  expect(earlier.messages).toEqual([]);
});
