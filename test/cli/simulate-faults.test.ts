import { afterEach, beforeAll, expect, test } from "@jest/globals";
import { faults } from "../../src/simulator/index.ts";
import { freePort } from "../free-port.ts";
import { command, type Running, running } from "./command.ts";

let ports: Record<string, number> = {};
let farm: readonly string[] = [];
let service: Running | undefined;
beforeAll(async () => {
  ports = { cgminer: await freePort(), axeos: await freePort(), xmrig: await freePort() };
  const list = Object.entries(ports).map(([kind, port]) => `${kind}=${port}`);
  farm = ["simulate", "--addresses", list.join(",")];
});
afterEach(async () => {
  service?.signal("SIGTERM");
  await service?.ended;
});

test("faults are set at the start, by a share and by name, and changed while the rigs run", async () => {
  const faulty = ["--fault", "close:30%", "--fault", "none=cgminer-1", "--fault", "http-500=axeos-4,axeos-9"];
  service = await running([...farm, "--count", "10", ...faulty], /Ctrl-C/);
  const first = `127.1.0.1:${ports.cgminer}`;
  const read = () => command(["read", first]);
  const health = await service.type("list", /axeos-9.*\n/s);
  expect(health).toMatch(/^10 rigs: /);
  expect(health).toMatch(/\b2 http-500/);
  expect(health).toMatch(new RegExp(`^ {2}axeos-4 +127\\.1\\.0\\.4:${ports.axeos} +http-500`, "m"));
  expect(health).not.toMatch(/cgminer-1 /);

  expect((await read()).code).toBe(0);
  expect(await service.type("fault cgminer-1,axeos-4 garbage", /\n/)).toBe("2 rigs garbage: cgminer-1, axeos-4\n");
  expect((await read()).stderr).toContain(first);
  expect(await service.type("off cgminer-1", /\n/)).toBe("1 rig off: cgminer-1\n");
  expect((await read()).stderr).toContain("closed without an answer");
  expect(await service.type("on all", /\n/)).toMatch(/^10 rigs on: cgminer-1, cgminer-2, /);
  expect((await read()).code).toBe(0);
  expect(await service.type("list", /\n/)).toBe("10 rigs: 10 healthy\n");
  expect(await service.type("fault 30% slow", /\n/)).toMatch(/^3 rigs slow: /);
  service.signal("SIGTERM");
  expect(await service.ended).toMatchObject({ code: 0, stderr: "" });
});

test("a line with a mistake is answered with a sentence and changes nothing", async () => {
  service = await running([...farm, "--count", "3"], /Ctrl-C/);
  const answers: readonly (readonly [string, string])[] = [
    ["flaut all silent", '"flaut" is not a command; type help'],
    ["fault cgminer-1 sielnt", 'there is no fault "sielnt"; did you mean "silent"?'],
    ["fault cgminer-9 silent", 'there is no rig "cgminer-9"; did you mean "cgminer-1"?'],
    ["fault 130% silent", "130% is more than 100%"],
    ["fault cgminer-1", "Usage: fault <rigs> <fault>, as in: fault 30% slow"],
    ["off", "Usage: off <rigs>, as in: off all"],
    ["fault all __proto__", 'there is no fault "__proto__"; --help lists the faults'],
    ["fault \u001b[31m silent", 'there is no rig "\ufffd[31m"; rigs are named cgminer-1, cgminer-2 and so on'],
  ];
  for (const [line, answer] of answers) expect(await service.type(line, /\n/)).toBe(`${answer}\n`);
  expect((await service.type("faults", /\n/)).trim().split(" ")).toEqual(Object.keys(faults));
  expect(await service.type("help", /all\.\n/)).toContain("fault cgminer-3 silent");
  expect(await service.type("list", /\n/)).toBe("3 rigs: 3 healthy\n");
  service.signal("SIGINT");
  expect((await service.ended).code).toBe(0);
});

test("the help lists every fault and the lines that can be typed", async () => {
  const { stdout } = await command(["simulate", "--help"]);
  for (const name of Object.keys(faults)) expect(stdout).toMatch(new RegExp(`(^|\\s)${name}(\\s|$)`, "m"));
  expect(stdout).toContain("silent:30%");
  expect(stdout).toContain("fault cgminer-3 silent");
});

test("an unknown fault prevents the start, and every one is named", async () => {
  const wrong = ["--fault", "silent:x%", "--fault", "slow=cgminer-9", "--fault", ":30%", "--fault", "nan:101%"];
  const { code, stderr } = await command([...farm, "--count", "2", ...wrong]);
  expect(code).toBe(1);
  expect(stderr.trim().split("\n")).toEqual([
    "No rigs were started:",
    expect.stringContaining('--fault: there is no rig "x%"'),
    expect.stringContaining('--fault: there is no rig "cgminer-9"'),
    expect.stringContaining('--fault: there is no fault ""'),
    "  --fault: 101% is more than 100%",
  ]);
});
