/** The header in which `rigbridge mcp` names its MCP client to a service; the audit trail shows it. */
export const mcpClientHeader = "x-rigbridge-mcp-client";

const longestClient = 40;

/**
 * The actor of an MCP client's commands, such as `mcp:claude-code`. The client chooses its name, so only letters, digits
 * and `._-/` of it are kept: nothing that reads like `for anna`.
 */
export function mcpActor(client: string | undefined): string {
  const name = (client ?? "")
    .normalize("NFKC")
    .replace(/[^A-Za-z0-9._/-]+/g, "-")
    .slice(0, longestClient)
    .replace(/^-+|-+$/g, "");
  return `mcp:${name || "unknown"}`;
}

/** The client of such an actor; undefined for any other actor. */
export const mcpClientOf = (actor: string): string | undefined => /^mcp:(.+)$/.exec(actor)?.[1];
