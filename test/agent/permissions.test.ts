import { chmod, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import type { Program } from "../../src/contract/agent.ts";
import { onTestFinished } from "../finished.ts";
import { until } from "../until.ts";
import { doubleProgram, installDouble, ownFolder, pool, processesIn, startHost, type TestHost } from "./host.ts";

/** The error of a start, after which nothing runs. */
async function refusal(
  host: TestHost,
  changes: Partial<Program>,
): Promise<{ code: string; message: string } | undefined> {
  host.send({ t: "programs", programs: [doubleProgram(host.path, { ...changes, running: false })] });
  const { error } = await host.ask({ t: "start", id: 1 });
  expect(await processesIn(host.folder)).toEqual([]);
  expect(host.state()).toMatchObject({ starts: 0, pid: null });
  return error;
}
const at = (path: string): Partial<Program> => ({ files: { from: "path", path } });

test("only programs in the allowed folders run, however a path leads out of them", async () => {
  const host = await startHost();
  const outside = await installDouble(join(await ownFolder(), "elsewhere"));
  const inside = join(host.folder, "programs");
  await symlink(outside, join(inside, "link"));
  await symlink(join(outside, ".."), join(inside, "folder"));
  const ways = ["/bin/sh", outside, join(inside, "link"), join(inside, "folder", "xmrig"), `${inside}/../../x/xmrig`];
  for (const path of [...ways, `${inside}-2/xmrig`, inside]) {
    const error = await refusal(host, at(path));
    expect([path, error]).toMatchObject([path, { code: "agent.forbidden" }]);
    expect(error?.message).toBe(
      `This host does not allow programs outside of ${inside}; only \`allow.folders\` in the agent's own configuration on the host can`,
    );
  }
});

test("a program is not taken for another one, whose parameters have other rules", async () => {
  const host = await startHost();
  const other = await installDouble(join(host.folder, "programs"), "lolMiner");
  expect(await refusal(host, at(other))).toEqual({
    code: "agent.forbidden",
    message: `${other} is refused as XMRig, which is called xmrig; rename the file`,
  });
});

test("a path outside of the folders does not tell whether there is a file", async () => {
  const host = await startHost();
  const there = await refusal(host, at("/etc/passwd"));
  expect(await refusal(host, at("/etc/no-such-file"))).toEqual(there);
});

test("a link inside of a folder, and a folder that is a link, are followed", async () => {
  const real = await ownFolder();
  await installDouble(real);
  const folder = await ownFolder();
  const linked = join(await ownFolder(), "linked");
  await symlink(real, linked);
  await symlink(join(real, "xmrig"), join(real, "current"));
  const permissions = { folders: [linked], downloads: false, reboot: false, gpuSettings: false };
  const host = await startHost({ folder, options: { permissions } });
  host.send({ t: "programs", programs: [doubleProgram(join(linked, "current"))] });
  await host.untilStatus("running");
});

test("a path that is missing, no file, or not executable is named with what to do", async () => {
  const host = await startHost();
  const inside = join(host.folder, "programs");
  await mkdir(join(inside, "folder"));
  await writeFile(join(inside, "text"), "no program");
  await chmod(join(inside, "text"), 0o644);
  const errors = await Promise.resolve([
    await refusal(host, at("xmrig")),
    await refusal(host, at(join(inside, "folder"))),
    await refusal(host, at(join(inside, "text"))),
    await refusal(host, at(join(inside, "missing"))),
  ]);
  expect(errors.map((each) => [each?.code, each?.message])).toEqual([
    ["program.missing", "The path xmrig must be absolute"],
    ["program.not-executable", `${inside}/folder is not a file`],
    ["program.not-executable", `${inside}/text is not executable by the agent's user; run chmod +x on it`],
    ["program.missing", `${inside}/missing does not exist on this host, or the agent may not read it`],
  ]);
});

test("a program that is missing is looked for again, as its disk may be mounted late", async () => {
  const host = await startHost();
  const path = join(host.folder, "programs", "xmrig-late");
  host.send({ t: "programs", programs: [doubleProgram(path)] });
  await host.untilStatus("waiting");
  await installDouble(join(host.folder, "programs"), "xmrig-late");
  await host.untilStatus("running");
});

test("a file that is no program is refused: the system would run it by a shell", async () => {
  const host = await startHost();
  const path = join(host.folder, "programs", "xmrig-text");
  await writeFile(path, `echo run > ${host.folder}/was-run\n`);
  await chmod(path, 0o755);
  expect(await refusal(host, at(path))).toEqual({
    code: "program.not-executable",
    message: `${path} is neither an executable for this system nor a script that begins with #!`,
  });
});

test("downloads, GPU settings and a reboot are off unless the agent's configuration allows them", async () => {
  const host = await startHost();
  const files = { from: "download", url: "https://example.com/x.tar.gz", sha256: null } as const;
  const gpu = { bus: null, powerLimit: 100, coreClock: null, memoryClock: null, fan: null };
  const errors = [await refusal(host, { files }), await refusal(host, { gpuSettings: [gpu] })];
  const { error } = await host.ask({ t: "reboot" });
  expect([...errors, error].map((each) => each?.message)).toEqual([
    "This host does not allow downloads of programs; only `allow.downloads` in the agent's own configuration on the host can",
    "This host does not allow settings of GPUs; only `allow.gpuSettings` in the agent's own configuration on the host can",
    "This host does not allow a reboot; only `allow.reboot` in the agent's own configuration on the host can",
  ]);
});

test("a reboot runs the configured command, and says when that fails", async () => {
  const folder = await ownFolder();
  const script = join(folder, "reboot");
  await writeFile(script, `#!/bin/sh\necho "$@ $RIGBRIDGE_AGENT_TOKEN" > ${folder}/rebooted\n`);
  process.env.RIGBRIDGE_AGENT_TOKEN = "token-of-this-host";
  onTestFinished(() => delete process.env.RIGBRIDGE_AGENT_TOKEN);
  await chmod(script, 0o755);
  const permissions = { folders: [], downloads: false, reboot: true, gpuSettings: false };
  const host = await startHost({ options: { permissions, rebootCommand: [script, "now; ls", "$HOME"] } });
  expect(await host.ask({ t: "reboot" })).toMatchObject({ message: "The host is rebooted" });
  await until(async () => (await readFile(join(folder, "rebooted"), "utf8").catch(() => "")) !== "", "the command");
  expect(await readFile(join(folder, "rebooted"), "utf8")).toBe("now; ls $HOME \n");
  const failing = await startHost({
    options: { permissions, rebootCommand: ["/bin/sh", "-c", "echo not root >&2; exit 1"] },
  });
  expect((await failing.ask({ t: "reboot" })).error?.message).toBe(
    "The host cannot be rebooted (/bin/sh: not root); see docs/agent.md",
  );
});

test("a program that the agent does not run itself has the commands of the configuration only", async () => {
  const folder = await ownFolder();
  const script = join(folder, "unit");
  await writeFile(
    script,
    `#!/bin/sh\n[ "$1" = fails ] && { echo no such unit >&2; exit 5; }\nenv > ${folder}/env; echo "$@" >> ${folder}/asked\n(sleep 3 >&2) &\n`,
  );
  await chmod(script, 0o755);
  process.env.RIGBRIDGE_AGENT_TOKEN = "token-of-this-host-123";
  onTestFinished(() => void delete process.env.RIGBRIDGE_AGENT_TOKEN);
  const foreign = [{ port: 4067, start: [script, "start", "t-rex; ls $HOME"], stop: [script, "fails"] }];
  const host = await startHost({ options: { foreign } });
  expect(host.messages[0]).toMatchObject({ t: "hello", foreign: [{ port: 4067, actions: ["start", "stop"] }] });
  expect(await host.ask({ t: "foreign", port: 4067, action: "start" })).toMatchObject({
    message: "The host has run its command to start the program at port 4067",
  });
  expect(await readFile(join(folder, "asked"), "utf8")).toBe("start t-rex; ls $HOME\n");
  expect(await readFile(join(folder, "env"), "utf8")).not.toContain("token-of-this-host");
  const errors = [
    await host.ask({ t: "foreign", port: 4067, action: "stop" }),
    await host.ask({ t: "foreign", port: 4067, action: "restart" }),
    await host.ask({ t: "foreign", port: 4068, action: "start" }),
  ].map(({ error }) => [error?.code, error?.message]);
  expect(errors).toEqual([
    ["not.possible", `The command on the host has failed (${script}: no such unit)`],
    ["agent.forbidden", expect.stringContaining("no command to restart a program at port 4067")],
    ["agent.forbidden", expect.stringContaining("no command to start a program at port 4068")],
  ]);
});

test("all mistakes of a program are named at once, and nothing is started", async () => {
  const host = await startHost();
  const error = await refusal(host, { algorithm: "nonsense", pools: [], parameters: "--http-port 1" });
  expect(error?.code).toBe("input.invalid");
  for (const part of ["algorithm", "pools", "parameters"]) expect(error?.message).toContain(part);
  expect(await refusal(host, { software: "Nothing" })).toMatchObject({
    code: "software.unknown",
    message: expect.stringContaining("does not know the mining software Nothing"),
  });
});

test("the command line is shown without passwords and tokens, also of a program that is not declared", async () => {
  const host = await startHost();
  const { command } = await host.command(doubleProgram(host.path, { id: 9 }));
  expect(command?.[0]).toBe(host.path);
  expect(command).toContain(pool.url);
  expect(command?.join(" ")).not.toContain(pool.password);
  expect((await host.command(doubleProgram(host.path, { pools: [] }))).error).toMatchObject({ code: "input.invalid" });
});
