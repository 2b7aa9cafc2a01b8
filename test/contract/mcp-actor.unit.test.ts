import { expect, test } from "@jest/globals";
import { UserName } from "../../src/contract/inputs.ts";
import { mcpActor, mcpClientOf } from "../../src/contract/mcp-actor.ts";

test("the actor of an MCP client is bounded and cannot read like a user's", () => {
  expect(mcpActor("Claude Code")).toBe("mcp:Claude-Code");
  expect(mcpActor("x for anna\n\u202e")).toBe("mcp:x-for-anna");
  expect(mcpActor("y".repeat(1_000))).toBe(`mcp:${"y".repeat(40)}`);
  expect([mcpActor(undefined), mcpActor(""), mcpActor("  ")]).toEqual(Array(3).fill("mcp:unknown"));
  expect([mcpClientOf("mcp:cursor"), mcpClientOf("http"), mcpClientOf("mqtt")]).toEqual([
    "cursor",
    undefined,
    undefined,
  ]);
});

test("no user may have such a name", () => {
  expect(["mcp:cursor", "MCP:Cursor"].map((name) => UserName.safeParse(name).success)).toEqual([false, false]);
});
