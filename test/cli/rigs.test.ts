import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, describe, expect, test } from "@jest/globals";
import { confirm } from "../../src/cli/confirm.ts";
import { onTestFinished } from "../finished.ts";
import { closeBenches } from "../service/bench.ts";
import { until } from "../until.ts";
import { command, rigbridge, running } from "./command.ts";
import { servedBench } from "./served-bench.ts";

afterEach(closeBenches);

const rigs = [
  { kind: "cgminer", warm: true },
  { kind: "xmrig", warm: true, token: "right", restricted: false },
] as const;

describe("rigbridge list", () => {
  test("shows the rigs of the service, those of a group, and those that are down, such as one that was added but cannot be reached", async () => {
    const { bench, env } = await servedBench({ rigs, config: { groups: [{ name: "Hall" }] } });
    await bench.add(bench.rig(0).address, { name: "Garage", group: "Hall" });
    expect((await rigbridge(["list"], { env })).stdout).toMatch(
      /^Name +State +Hash rate +Power +Temp\. +Pool\nGarage +Mining +[\d.]+ TH\/s +(\d+ W )? +\d+ °C +pool\.example\.com\n$/,
    );
    const json = async (...args: string[]): Promise<unknown> =>
      JSON.parse((await command(["ls", "--json", ...args], { env })).stdout);
    expect(await json("--group", "Hall")).toMatchObject([{ name: "Garage", hashrate: expect.any(Number) }]);
    expect(await json("--group", "0")).toEqual([]);
    expect(await json("--down")).toEqual([]);
    const off = await command(["add", "127.0.0.1:1", "--name", "Off"], { env });
    expect(off).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Off was added .*; it has not answered yet\)\n$/),
    });
    for (let read = 1; read < 3; read += 1) await bench.poll(1_000_000_002);
    expect(await json("--down")).toMatchObject([{ name: "Off", status: "Disconnected" }]);
  });
});

describe("rigbridge add and remove", () => {
  test("add takes the login from the environment, reads the rig once, and remove removes it", async () => {
    const { bench, env } = await servedBench({ rigs });
    const { address } = bench.rig(1);
    const args = ["add", address, "--name", "Attic", "--token-from-env", "ATTIC"];
    expect(await command(args, { env })).toMatchObject({
      code: 1,
      stderr: "--token-from-env: ATTIC is not set in the environment\n",
    });
    expect(await rigbridge(args, { env: { ...env, ATTIC: "right" } })).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^Attic was added \(id 1000000001; .*; Mining\)\n$/),
      stderr: "",
    });
    expect(await command(["remove", "Attik", "--yes"], { env })).toMatchObject({
      code: 1,
      stderr: 'There is no miner "Attik"; did you mean "Attic"?\n',
    });
    expect((await rigbridge(["remove", "Attic"], { env })).stderr).toBe(
      "Nothing was removed: without a terminal to ask on, give --yes\n",
    );
    expect(await command(["rm", "Attic", "--yes"], { env })).toMatchObject({ code: 0, stderr: "" });
    expect((await command(["list"], { env })).stdout).toMatch(/^There are no rigs; /);
  });

  test.each([
    ["y", true],
    ["Yes", true],
    ["", false],
    ["yesterday", false],
  ])("remove asks, and %j is %p", async (answer, agreed) => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const asked = confirm("Remove Garage?", input, output);
    input.write(`${answer}\n`);
    expect(await asked).toBe(agreed);
    expect(String(output.read())).toBe("Remove Garage? [y/N] ");
  });

  test("the end of the input is no agreement", async () => {
    const input = new PassThrough();
    const asked = confirm("Remove Garage?", input, new PassThrough());
    input.end();
    expect(await asked).toBe(false);
  });
});

test("watch prints each rig, then each new state, and ends on Ctrl-C", async () => {
  const { bench, env } = await servedBench({ rigs });
  await bench.add(bench.rig(0).address, { name: "Garage" });
  const watch = await running(["watch"], /^\S+Z Garage: Mining\n/, { env });
  await bench.add(bench.rig(1).address, { name: "Attic", token: "right" });
  await until(() => /\n\S+Z Attic: \w+\n/.test(watch.said()), "watch to say that a rig was added");
  watch.signal("SIGINT");
  expect(await watch.ended).toMatchObject({ code: 0, stderr: "" });
});

describe("rigbridge import and export", () => {
  test("a table is previewed and imported, and what is exported changes nothing", async () => {
    const { env } = await servedBench({ rigs: [], config: { groups: [{ name: "Hall" }] } });
    const folder = await mkdtemp(join(tmpdir(), "rigbridge-import-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, "rigs.csv");
    // Long enough that a limit for texts of other requests would refuse it.
    const lines = Array.from({ length: 600 }, (_, index) => `127.103.0.1:${index + 1},A rig with the number ${index}`);
    await writeFile(file, ["address,name", ...lines].join("\n"));
    const long = await command(["import", file, "--preview"], { env });
    expect(long.stdout).toMatch(/\n600 rigs to add, 0 to change, 0 the same\.\n$/);
    await writeFile(file, "address,name,group\n127.0.0.1:1,One,Hall\n127.0.0.1:2,Two,Hal\n127.0.0.1:x,Three,\n");
    expect(await command(["import", file, "--yes"], { env })).toEqual({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(
        /^Nothing was imported: 2 mistakes\n {2}3:3: group: there is no group Hal.*\n {2}4:1: address: .*\n$/,
      ),
    });
    await writeFile(file, "address;name;group\n127.0.0.1:1;One;Hall\n127.0.0.1:2;Two;Hall\n");
    expect((await command(["import", file], { env })).stderr).toMatch(/without a terminal to ask on, give --yes/);
    const shown = await rigbridge(["import", file, "--preview"], { env });
    expect(shown.stdout).toMatch(/^Line +Rig +Change\n +2 +added +One +address 127\.0\.0\.1:1, name One, group Hall\n/);
    expect(shown.stdout).toMatch(/\n2 rigs to add, 0 to change, 0 the same\.\n$/);
    expect((await command(["list"], { env })).stdout).toMatch(/^There are no rigs; /);
    expect((await command(["import", file, "--yes"], { env })).stdout).toMatch(
      /\n2 rigs added, 0 changed, 0 the same\.\n$/,
    );
    expect((await command(["import", `${file}.old`, "--yes"], { env })).stderr).toMatch(
      /rigs\.csv\.old does not exist/,
    );
    await writeFile(file, Buffer.from("address,name\n127.0.0.1:1,K\xfcche\n", "latin1"));
    expect((await command(["import", file, "--yes"], { env })).stderr).toMatch(/rigs\.csv is not UTF-8; in Excel, /);
    await writeFile(file, (await command(["export"], { env })).stdout);
    expect((await command(["import", file, "--yes"], { env })).stdout).toBe(
      "0 rigs to add, 0 to change, 2 the same.\n",
    );
  });
});
