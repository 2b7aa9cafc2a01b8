import { Client, type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { onTestFinished } from "../finished.ts";

export interface ClientSetup {
  readonly key?: string;
  /** `modern`: the stateless revision; `legacy`: one with an initialize request. */
  readonly era?: "modern" | "legacy";
  /** What the user answers when asked; absent: the client cannot ask. */
  readonly answer?: (message: string) => "accept" | "decline";
  readonly headers?: Readonly<Record<string, string>>;
}

/** A real MCP client of a service, until the end of the test. */
export async function mcpClient(
  url: string,
  { key, era = "modern", answer, headers = {} }: ClientSetup,
): Promise<Client> {
  const transport = new StreamableHTTPClientTransport(new URL("/mcp", url), {
    requestInit: { headers: { ...headers, ...(key === undefined ? {} : { "x-api-key": key }) } },
  });
  const client = newClient(era, answer);
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

export function newClient(era: "modern" | "legacy", answer?: ClientSetup["answer"]): Client {
  const options: ClientOptions = {
    capabilities: answer === undefined ? {} : { elicitation: {} },
    versionNegotiation: { mode: era === "modern" ? { pin: "2026-07-28" } : "legacy" },
  };
  const client = new Client({ name: "Test Client for nobody", version: "1.0.0" }, options);
  if (answer !== undefined)
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      const action = answer(params.message);
      return action === "accept" ? { action, content: { agree: true } } : { action };
    });
  return client;
}

export interface ToolAnswer {
  readonly isError: boolean;
  readonly text: string;
  /** The text as JSON; null if it is not. */
  readonly json: unknown;
}

/** What a tool answers. Rejects with the error of an unknown tool. */
export async function callTool(client: Client, name: string, args: object = {}): Promise<ToolAnswer> {
  const { content, isError = false } = await client.callTool({ name, arguments: { ...args } });
  const text = content.map((part) => (part.type === "text" ? part.text : "")).join("");
  return { isError, text, json: text.startsWith("{") ? JSON.parse(text) : null };
}
