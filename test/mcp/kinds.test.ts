import { describe, expect, test } from "@jest/globals";
import { Client, InMemoryTransport } from "@modelcontextprotocol/client";
import { z } from "zod";
import { mcpServers } from "../../src/mcp/index.ts";
import { kinds } from "../contract/kinds.ts";
import { onTestFinished } from "../finished.ts";
import { callTool } from "./client.ts";

const Rigs = z.object({ rigs: z.array(z.object({ id: z.number(), status: z.string() })).min(1) });

describe.each(kinds)("over $name", ({ open, isReference }) => {
  test("the tools are those whose operations it has, and they work", async () => {
    const { service, steered, close } = await open();
    onTestFinished(close);
    const failures: unknown[] = [];
    const servers = mcpServers({ service, version: "1.2.3", now: Date.now, failed: (error) => failures.push(error) });
    const server = await servers({ access: {} })({ era: "legacy" });
    const [here, there] = InMemoryTransport.createLinkedPair();
    await server.connect(here);
    const client = new Client({ name: "test", version: "1" });
    await client.connect(there);
    onTestFinished(() => client.close());
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["farm_summary", "list_rigs", "rig_details", "notifications"]));
    expect([names.includes("stop_rigs"), names.includes("history")]).toEqual([!isReference, !isReference]);
    expect(Rigs.parse((await callTool(client, "list_rigs", { sort: "hashrate" })).json).rigs.length).toBeGreaterThan(1);
    expect((await callTool(client, "rig_details", { rig: steered })).json).toMatchObject({ id: steered });
    for (const name of names.filter(
      (each) => !/^(rig_details|job_status|set_|change_|acknowledge|.*_rigs$)/.test(each),
    ))
      expect([name, (await callTool(client, name)).isError]).toEqual([name, false]);
    expect(failures).toEqual([]);
  });
});
