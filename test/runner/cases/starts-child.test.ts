import { spawn } from "node:child_process";
import { test } from "@jest/globals";

test("starts a program and waits for ever", async () => {
  const { pid } = spawn("sleep", ["600"], { stdio: "ignore" });
  process.stdout.write(`child ${pid} of ${process.pid}\n`);
  await new Promise((resolve) => setTimeout(resolve, 600_000));
});
