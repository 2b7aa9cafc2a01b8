import type { Command } from "commander";
import { version } from "../version.ts";
import { failing } from "./failure.ts";
import { type ServiceOptions, serviceCommand, withService } from "./service-options.ts";

export function mcpCommand(): Command {
  return serviceCommand("mcp", "RIGBRIDGE_KEY=key rigbridge mcp --service http://192.168.1.10:17790")
    .description(
      "Gives an AI assistant the tools of a running service, by the Model Context Protocol on stdin and stdout.",
    )
    .action(failing(serve));
}

/** Serves until stdin ends. Stdout carries the protocol alone. */
async function serve(options: ServiceOptions): Promise<void> {
  const [{ mcpServers }, { serveStdio, StdioServerTransport }] = await Promise.all([
    import("../mcp/index.ts"),
    import("@modelcontextprotocol/server/stdio"),
  ]);
  await withService(options, async (service) => {
    const transport = new StdioServerTransport();
    const ended = new Promise<void>((resolve) => process.stdin.once("close", resolve).once("end", resolve));
    const failed = (error: unknown): void => console.error(error);
    const servers = mcpServers({ service, version, now: Date.now, failed });
    const handle = serveStdio(servers({ access: {} }), { transport, onerror: failed, maxSubscriptions: 0 });
    await ended;
    await handle.close();
  });
}
