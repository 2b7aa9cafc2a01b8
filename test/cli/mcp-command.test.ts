import { afterEach, expect, test } from "@jest/globals";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { onTestFinished } from "../finished.ts";
import { callTool, newClient } from "../mcp/client.ts";
import { closeBenches } from "../service/bench.ts";
import { rigbridge } from "./command.ts";
import { servedBench } from "./served-bench.ts";

// depends on: src/**

afterEach(closeBenches);

const main = new URL("../../src/cli/main.ts", import.meta.url).pathname;

test.each(["modern", "legacy"] as const)(
  "rigbridge mcp gives a %s client the tools of a service, asks it, and the service's log names the client",
  async (era) => {
    const { bench, env } = await servedBench({
      rigs: Array.from({ length: 6 }, () => ({ kind: "axeos", warm: true })),
    });
    const ids: number[] = [];
    for (const { address } of bench.farm.rigs) ids.push(await bench.add(address));
    const questions: string[] = [];
    const client = newClient(era, (message) => {
      questions.push(message);
      return "accept";
    });
    onTestFinished(() => client.close());
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: ["--disable-warning=ExperimentalWarning", main, "mcp"],
        env: { ...env, PATH: process.env.PATH ?? "" },
      }),
    );
    expect((await client.listTools()).tools).toHaveLength(25);
    expect((await callTool(client, "farm_summary")).json).toMatchObject({ rigs: 6, rigsByState: { Mining: 6 } });
    expect((await callTool(client, "stop_rigs", { all: true })).json).toMatchObject({ rigs: 6, done: 6 });
    expect(questions).toEqual([expect.stringMatching(/^Stop 6 rigs: ⟦/)]);
    expect(await bench.commands(ids[0] ?? 0)).toMatchObject([{ actor: "mcp:Test-Client-for-nobody", state: "done" }]);
  },
);

test("without a service, the client learns why nothing works, and stdout stays silent", async () => {
  const { stdout, stderr, code } = await rigbridge(["mcp", "--help"]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout.replace(/\s+/g, " ")).toContain("Model Context Protocol on stdin and stdout");
  const client = newClient("legacy");
  onTestFinished(() => client.close());
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: ["--disable-warning=ExperimentalWarning", main, "mcp", "--service", "http://127.0.0.1:1"],
    }),
  );
  await expect(client.listTools()).rejects.toThrow("127.0.0.1:1");
});
