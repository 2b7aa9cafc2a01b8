import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { LogFile } from "../../src/agent/log-file.ts";
import { onTestFinished } from "../finished.ts";
import { until } from "../until.ts";
import { doubleProgram, logOf, ownFolder, startHost } from "./host.ts";

const sizeOf = async (path: string): Promise<number> => (await stat(path).catch(() => ({ size: 0 }))).size;

test("a log of three files keeps its newest end, and its writer goes on in the first one", async () => {
  const path = join(await ownFolder(), "1.log");
  const log = new LogFile(path, { size: 1_000, files: 3 });
  const output = await log.open();
  const writer = spawn("/bin/cat", [], { stdio: ["pipe", output.fd, output.fd] });
  await output.close();
  onTestFinished(() => {
    writer.kill();
  });
  const print = async (text: string): Promise<void> => {
    writer.stdin?.write(text);
    await until(async () => (await readFile(path, "utf8")).endsWith(text), "the output");
  };
  for (const letter of ["a", "b", "c", "d"]) {
    await print(letter.repeat(1_500));
    await log.rotate();
    expect(await sizeOf(path)).toBe(0);
  }
  await print("end");
  expect(await readFile(path, "utf8")).toBe("end");
  expect(await readFile(`${path}.1`, "utf8")).toBe("d".repeat(1_000));
  expect(await readFile(`${path}.2`, "utf8")).toBe("c".repeat(1_000));
  expect(await sizeOf(`${path}.3`)).toBe(0);
  writer.stdin?.end();
  await once(writer, "exit");
});

test("a short log is left alone", async () => {
  const path = join(await ownFolder(), "1.log");
  await writeFile(path, "short");
  await new LogFile(path, { size: 1_000, files: 3 }).rotate();
  expect(await readFile(path, "utf8")).toBe("short");
});

test("the last lines of a long log are printable", async () => {
  const path = join(await ownFolder(), "1.log");
  const log = new LogFile(path, { size: 1_000, files: 3 });
  expect(await log.lastOutput(5)).toEqual([]);
  await writeFile(
    path,
    `${"older line\n".repeat(20_000)}\u001b[31mred\u001b[0m\r\n\u0007bell\n\n${"x".repeat(2_000)}\n`,
  );
  await log.note(0, "ended (exit code 1)");
  expect(await log.lastOutput(3)).toEqual(["red", "bell", "x".repeat(500)]);
  expect(await log.lastOutput(3, ["bell"], 504)).toEqual(["***", "x".repeat(500)]);
});

test("a program that prints much does not fill the disk", async () => {
  const host = await startHost({ limits: { log: { size: 5_000, files: 3 } } });
  host.send({ t: "programs", programs: [doubleProgram(host.path, { parameters: "--double-chatter 200" })] });
  await until(async () => (await sizeOf(join(host.folder, "logs", "1.log.2"))) > 0, "two rotations");
  // The program prints on, so the copy is made again and again.
  await until(async () => (await sizeOf(join(host.folder, "logs", "1.log.1"))) === 5_000, "a whole copy");
  expect(await sizeOf(join(host.folder, "logs", "1.log.3"))).toBe(0);
  await until(async () => (await logOf(host.folder)).startsWith("x"), "the program to go on in the first file");
});
