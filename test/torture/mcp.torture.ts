import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { tools } from "../../src/mcp/tools/index.ts";
import { startFarm } from "../../src/simulator/index.ts";
import { Verdict } from "./measure.ts";
import { kept, run } from "./openapi/tools.ts";
import { main, startProcess } from "./process.ts";
import { say } from "./say.ts";

/**
 * MCP's own conformance suite on POST /mcp, and the inspector's command line on POST /mcp and on `rigbridge mcp`. Both
 * are fetched from npm and kept. The suite tests revisions up to 2025-11-25; the stateless one is in test/http/mcp.test.ts.
 */
const packages = ["@modelcontextprotocol/conformance@0.1.16", "@modelcontextprotocol/inspector@2.12.0"];
const key = "the-key-of-the-service";

const fixture = "calls a tool of the suite's own test server, whose answer is laid down there";
const noResources = "Rigbridge offers tools only, and does not announce resources";
const noPrompts = "Rigbridge offers tools only, and does not announce prompts";
const noStreams = "an answer is complete when it is sent, so there is no stream to take up again";

/** The suite's scenarios for servers: null if it must pass, else why it does not apply. */
const scenarios: Readonly<Record<string, string | null>> = {
  "server-initialize": null,
  ping: null,
  "tools-list": null,
  "dns-rebinding-protection": null,
  "logging-set-level": "Rigbridge does not announce logging; its log is its own",
  "completion-complete": "Rigbridge does not announce completions",
  "tools-call-simple-text": fixture,
  "tools-call-image": fixture,
  "tools-call-audio": fixture,
  "tools-call-embedded-resource": fixture,
  "tools-call-mixed-content": fixture,
  "tools-call-with-logging": fixture,
  "tools-call-error": fixture,
  "tools-call-with-progress": fixture,
  "tools-call-sampling": fixture,
  "tools-call-elicitation": fixture,
  "json-schema-2020-12": fixture,
  "elicitation-sep1034-defaults": fixture,
  "elicitation-sep1330-enums": fixture,
  "server-sse-polling": noStreams,
  "server-sse-multiple-streams": noStreams,
  "resources-list": noResources,
  "resources-read-text": noResources,
  "resources-read-binary": noResources,
  "resources-templates-read": noResources,
  "resources-subscribe": noResources,
  "resources-unsubscribe": noResources,
  "prompts-list": noPrompts,
  "prompts-get-simple": noPrompts,
  "prompts-get-with-args": noPrompts,
  "prompts-get-embedded-resource": noPrompts,
  "prompts-get-with-image": noPrompts,
};

const verdict = new Verdict();
const folder = await mkdtemp(join(tmpdir(), "rigbridge-mcp-"));
const programs = await kept(`mcp-${packages.map((name) => name.split("@").at(-1)).join("-")}`, async (cwd) => {
  await writeFile(join(cwd, "package.json"), '{ "private": true }\n');
  const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", ...packages];
  return (await run("npm", args, { cwd })) !== null;
});

const bin = (name: string): string => join(programs ?? "", "node_modules", ".bin", name);
const node = (name: string, args: readonly string[]): Promise<string | null> =>
  run(process.execPath, [bin(name), ...args], { cwd: folder, env: { NODE_OPTIONS: "" } });

async function conformance(url: string): Promise<void> {
  say("-- conformance");
  const listed = (await node("conformance", ["list", "--server"])) ?? "";
  const names = [...listed.matchAll(/^ {2}- (\S+)/gm)].map(([, name = ""]) => name);
  const unknown = names.filter((name) => !Object.hasOwn(scenarios, name));
  verdict.check(`every scenario of the suite is known (${names.length})`, names.length > 0 && unknown.length === 0);
  for (const [name, why] of Object.entries(scenarios)) {
    if (why !== null) say(`not applicable: ${name}: ${why}`);
    else
      verdict.check(
        `conformance: ${name}`,
        (await node("conformance", ["server", "--url", url, "--scenario", name])) !== null,
      );
  }
}

const Listed = z.object({ tools: z.array(z.object({ name: z.string() })) });

/** What the inspector prints has the tools, in their order. */
function hasTools(printed: string | null): boolean {
  const start = printed?.indexOf("{") ?? -1;
  if (printed === null || start === -1) return false;
  const found = Listed.safeParse(JSON.parse(printed.slice(start)));
  return JSON.stringify(found.data?.tools.map(({ name }) => name)) === JSON.stringify(tools.map(({ name }) => name));
}

async function inspector(service: string): Promise<void> {
  say("-- inspector");
  const header = ["--header", `X-API-Key: ${key}`];
  const http = ["--cli", `${service}/mcp`, "--transport", "http", ...header];
  verdict.check(
    "inspector: lists the tools of POST /mcp",
    hasTools(await node("mcp-inspector", [...http, "--method", "tools/list"])),
  );
  const called = await node("mcp-inspector", [...http, "--method", "tools/call", "--tool-name", "list_rigs"]);
  verdict.check("inspector: calls a tool of POST /mcp", called?.includes("⟦virtual rig⟧") === true);
  const stdio = [
    "--cli",
    "-e",
    `RIGBRIDGE_KEY=${key}`,
    "-e",
    `RIGBRIDGE_SERVICE=${service}`,
    process.execPath,
    main,
    "mcp",
  ];
  verdict.check(
    "inspector: lists the tools of rigbridge mcp",
    hasTools(await node("mcp-inspector", [...stdio, "--method", "tools/list"])),
  );
}

if (programs === null) {
  say("skipped: the programs cannot be fetched from npm");
} else {
  const farm = await startFarm({ rigs: [{ kind: "axeos", warm: true }] });
  const service = await startProcess({
    config: {
      http: { key, mcp: true },
      poll: { interval: 1 },
      miners: [{ address: farm.rigs[0]?.address, name: "virtual rig" }],
    },
  });
  const origin = `http://127.0.0.1:${service.port}`;
  await conformance(`${origin}/mcp?key=${key}`);
  await inspector(origin);
  await service.close();
  await farm.close();
}
await rm(folder, { recursive: true, force: true });
verdict.end();
