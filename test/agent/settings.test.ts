import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { readAgentSettings } from "../../src/agent/settings.ts";
import { RigbridgeError } from "../../src/contract/problems.ts";
import { ownFolder } from "./host.ts";

const token = "token-of-this-host-123";
const given = { service: "https://rigs.example", token };

async function fileWith(text: string): Promise<string> {
  const file = join(await ownFolder(), "agent.yaml");
  await writeFile(file, text, { mode: 0o600 });
  return file;
}

async function mistakesIn(reading: Promise<unknown>): Promise<string[]> {
  const error = await reading.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof RigbridgeError)) throw new Error("it was accepted");
  expect(error.code).toBe("config.invalid");
  return error.errors.length === 0 ? [error.message] : error.errors.map(({ path, message }) => `${path}: ${message}`);
}

test("without a file nothing is allowed but programs in the agent's own folder", async () => {
  const folder = await ownFolder();
  const { allow, rebootCommand, insecure, ca, mirror } = await readAgentSettings(null, { ...given, data: folder }, {});
  expect({ allow, rebootCommand, insecure, ca, mirror }).toEqual({
    allow: { folders: undefined, downloads: false, reboot: false, gpuSettings: false },
    rebootCommand: undefined,
    insecure: false,
    ca: null,
    mirror: null,
  });
});

test("paths of the file are relative to it, options go before it, variables are filled in", async () => {
  const file = await fileWith(
    "service: http://10.0.0.1:17790\ntoken: $" +
      "{TOKEN}\ndata: state\nallow:\n  folders: [miners, /opt/miners]\n  reboot: true\n",
  );
  const settings = await readAgentSettings(file, { service: "https://other.example" }, { TOKEN: token });
  expect(settings.services.map(({ href }) => href)).toEqual(["https://other.example/"]);
  expect(settings.token).toBe(token);
  expect(settings.folder).toBe(join(file, "..", "state"));
  expect(settings.allow).toMatchObject({ folders: [join(file, "..", "miners"), "/opt/miners"], reboot: true });
  expect((await readAgentSettings(file, {}, { TOKEN: token, RIGBRIDGE_AGENT_TOKEN: `${token}4` })).token).toBe(
    `${token}4`,
  );
});

test("a service with several addresses has them as a list or with commas, and each is checked", async () => {
  const hrefs = ["http://10.0.0.1:17790/", "https://rigs.example/"];
  const list = await fileWith("service: [http://10.0.0.1:17790, https://rigs.example]\n");
  const text = await fileWith("service: http://10.0.0.1:17790, https://rigs.example\n");
  for (const file of [list, text])
    expect((await readAgentSettings(file, { token }, {})).services.map(({ href }) => href)).toEqual(hrefs);
  const wrong = await fileWith("service: [http://10.0.0.1:17790, ftp://x, nothing]\n");
  expect(await mistakesIn(readAgentSettings(wrong, { token }, {}))).toEqual([
    "agent.yaml:1: service.1: must be an address like https://rigs.example:17790",
    "agent.yaml:1: service.2: must be an address like https://rigs.example:17790",
  ]);
  const unsafe = readAgentSettings(null, { service: "https://rigs.example,http://8.8.8.8:17790", token }, {});
  expect((await mistakesIn(unsafe))[0]).toContain("must begin with https://");
});

test("all mistakes of the file are named, each with its line, and none quotes the token", async () => {
  const file = await fileWith(
    "service: ftp://x\ntoken: 'short pass'\nallow:\n  reboots: true\n  folders: /opt\nrebootCommand: []\nmirror: http://x\n",
  );
  const mistakes = await mistakesIn(readAgentSettings(file, {}, {}));
  expect(mistakes).toEqual([
    "agent.yaml:1: service: must be an address like https://rigs.example:17790",
    "agent.yaml:2: token: must be a token from `rigbridge agent token`",
    'agent.yaml:4: allow.reboots: is not a known key; did you mean "reboot"?',
    "agent.yaml:5: allow.folders: must be a list, is text",
    "agent.yaml:6: rebootCommand: needs at least 1 of them",
    "agent.yaml:7: mirror: must be an address that begins with https://",
  ]);
});

test("programs that the agent does not run itself are declared by port, each once", async () => {
  const written = "foreignPrograms:\n  - { port: 4067, start: [systemctl, start, t-rex] }\n";
  const { foreignPrograms } = await readAgentSettings(await fileWith(written), given, {});
  expect(foreignPrograms).toEqual([{ port: 4067, start: ["systemctl", "start", "t-rex"] }]);
  const wrong = `${written}  - { port: 4067, begin: [x] }\n  - { port: 0, stop: systemctl stop t-rex }\n`;
  expect(await mistakesIn(readAgentSettings(await fileWith(wrong), given, {}))).toEqual([
    expect.stringContaining("agent.yaml:3: foreignPrograms.1.begin: is not a known key"),
    expect.stringMatching(/agent.yaml:4: foreignPrograms.2.port: /),
    expect.stringMatching(/agent.yaml:4: foreignPrograms.2.stop: must be a list/),
  ]);
  expect(await mistakesIn(readAgentSettings(await fileWith(`${written}  - port: 4067\n`), given, {}))).toEqual([
    "agent.yaml:3: foreignPrograms.1.port: is declared twice",
  ]);
});

test("what is missing or wrong on the command line is named", async () => {
  expect(await mistakesIn(readAgentSettings(null, {}, {}))).toEqual([
    "service: is missing; give it with --service",
    "token: is missing; give it with --token",
  ]);
  expect(await mistakesIn(readAgentSettings(null, { service: "rigs", token: "short" }, {}))).toEqual([
    "--service: must be an address like https://rigs.example:17790",
    "--token: must be a token from `rigbridge agent token`",
  ]);
  expect(await mistakesIn(readAgentSettings("/no/such/file.yaml", {}, {}))).toEqual([
    "/no/such/file.yaml does not exist",
  ]);
  expect(await mistakesIn(readAgentSettings(null, { ...given, ca: "/no/ca.pem" }, {}))).toEqual([
    "The certificate /no/ca.pem cannot be read (ENOENT)",
  ]);
  const text = await fileWith("no certificate");
  expect(await mistakesIn(readAgentSettings(null, { ...given, ca: text }, {}))).toEqual([
    `${text} contains no certificate in PEM form`,
  ]);
});

test("the token does not go over plain http to a public address", async () => {
  const service = "http://8.8.8.8:17790";
  const [mistake] = await mistakesIn(readAgentSettings(null, { service, token }, {}));
  expect(mistake).toContain("its address must begin with https://");
  expect((await readAgentSettings(null, { service, token, insecure: true }, {})).insecure).toBe(true);
});

test("a file with a token that others can read is warned of, but not one that takes it from the environment", async () => {
  const file = await fileWith(`service: https://rigs.example\ntoken: ${token}\n`);
  expect((await readAgentSettings(file, {}, {})).warnings).toEqual([]);
  await chmod(file, 0o644);
  const { warnings } = await readAgentSettings(file, {}, {});
  expect(warnings).toEqual([expect.stringContaining("run chmod 600 on it")]);
  const other = await fileWith(`service: https://rigs.example\ntoken: ${"$"}{TOKEN}\n`);
  await chmod(other, 0o644);
  expect((await readAgentSettings(other, {}, { TOKEN: token })).warnings).toEqual([]);
});
