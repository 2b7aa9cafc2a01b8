import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { running } from "../cli/command.ts";
import { freePort } from "../free-port.ts";
import { folders } from "../store/folder.ts";
import { endedWhileWriting } from "../torture/killed.ts";
import { until, within } from "../until.ts";

// depends on: src/**

const folder = folders();
const ready = /is ready at (http:\/\/127\.0\.0\.1:\d+)/;
const main = join(import.meta.dirname, "..", "..", "src", "cli", "main.ts");
const serve = () => running(["serve", "--data", folder(), "--port", "0"], ready);

test("a service stopped in the middle of writes exits with 0 and keeps what it acknowledged", async () => {
  const codes: (number | null)[] = [];
  const { wrong } = await endedWhileWriting(
    folder(),
    { rounds: 2, most: 100, signal: "SIGTERM" },
    (_round, _ledger, code) => codes.push(code),
  );
  expect(wrong).toEqual([]);
  expect(codes).toEqual([0, 0]);
});

test("SIGTERM makes it exit with 0, and no open event stream or unfinished request keeps it from that", async () => {
  const service = await serve();
  const { hostname, port } = new URL(ready.exec(service.said())?.[1] ?? "");
  const sockets = [
    "GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "POST /api/pools HTTP/1.1\r\nHost: localhost",
  ];
  for (const text of sockets) {
    const socket = connect(Number(port), hostname);
    socket.on("error", () => undefined);
    socket.write(text);
    if (text.startsWith("GET")) await within(once(socket, "data"), "the stream of events to begin");
  }
  service.signal("SIGTERM");
  const { code, stdout } = await service.ended;
  expect(stdout).toContain("Stopping (SIGTERM)");
  expect(stdout).not.toContain("Shutdown did not finish");
  expect(code).toBe(0);
});

test("SIGINT makes it exit with 0, and from the terminal and from npm it counts as one", async () => {
  const service = await serve();
  service.signal("SIGINT");
  service.signal("SIGINT");
  expect(await service.ended).toMatchObject({ code: 0, stdout: expect.stringContaining("Stopping (SIGINT)") });
});

test("a closed stdout does not end it", async () => {
  const data = folder();
  const port = await freePort();
  const args = ["--disable-warning=ExperimentalWarning", main, "serve", "--data", data, "--make-key", "--port"];
  const child = spawn(process.execPath, [...args, String(port)], { stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.destroy();
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const ended = once(child, "close");
  const health = async (): Promise<unknown> => {
    let status: number | undefined;
    const answers = async (): Promise<boolean> => {
      status = (await fetch(`http://127.0.0.1:${port}/health`).catch(() => null))?.status;
      return status !== undefined || child.exitCode !== null;
    };
    await until(answers, "the service to answer", { details: () => said });
    return status ?? said;
  };
  expect(await health()).toBe(200);
  child.kill("SIGTERM");
  expect(await within(ended, "the service to end", { details: () => said })).toEqual([0, null]);
  expect(said).toBe("");
});
