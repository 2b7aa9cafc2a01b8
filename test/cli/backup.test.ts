import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { onTestFinished } from "../finished.ts";
import { command, rigbridge, running } from "./command.ts";

test("backup copies the store of a running service, restore waits for its end and keeps the old store", async () => {
  const data = await mkdtemp(join(tmpdir(), "rigbridge-backup-"));
  onTestFinished(() => rm(data, { recursive: true }));
  const service = await running(["serve", "--data", data, "--port", "0"], /is ready at/);
  const [store, file] = [join(data, "rigbridge.db"), join(data, "copy.db")];
  expect(await rigbridge(["backup", file, "--data", data])).toEqual({
    code: 0,
    stdout: `${store} was copied to ${file} (1 MB). It contains passwords: keep it secret.\n`,
    stderr: "",
  });
  expect(await command(["restore", file, "--data", data])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^The store \S+ is in use by another Rigbridge \(process \d+\); stop that one first/),
  });
  service.signal("SIGTERM");
  await service.ended;
  const restored = await rigbridge(["restore", file, "--data", data]);
  expect(restored).toMatchObject({ code: 0, stderr: "" });
  const [kept = ""] = (await readdir(data)).filter((name) => name.includes("before-restore"));
  expect(restored.stdout).toBe(`${store} was restored from ${file}. The old one is ${join(data, kept)}.\n`);
});
