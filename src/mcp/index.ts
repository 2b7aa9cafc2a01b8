/** The tools of the Model Context Protocol over a MiningService; knows nothing of HTTP or stdio. */
export { type McpClient, type McpOptions, mcpServers } from "./server.ts";
