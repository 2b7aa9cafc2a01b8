import {
  acceptedContent,
  type CallToolRequest,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  isSpecType,
  type McpServerFactory,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  type Tool as ToolEntry,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { mcpActor } from "../contract/mcp-actor.ts";
import { didYouMean } from "../contract/nearest.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { isRecord } from "../contract/record.ts";
import type { Caller, MiningService } from "../contract/service.ts";
import { Advice } from "./advice.ts";
import { Confirmations, confirmationMs } from "./confirmations.ts";
import { asData, dataNotice, longestMessage, plainText } from "./data-text.ts";
import type { ActingTool, Plan, Small, Tool, ToolContext } from "./tool.ts";
import { tools } from "./tools/index.ts";

/** Rigs that a call may act on without asking the user. */
const mostUnasked = 5;

export interface McpOptions {
  readonly service: MiningService;
  /** Version of Rigbridge. */
  readonly version: string;
  /** Epoch ms. */
  readonly now: () => number;
  /** Told of errors that are the service's own fault. */
  readonly failed: (error: unknown) => void;
}

/** Who uses a server. */
export interface McpClient {
  /** The access of the client's key. */
  readonly access: Pick<Caller, "userId" | "privilege">;
  /** What the client is called if the protocol does not say. */
  readonly name?: string | undefined;
}

/** Makes the servers of one service, one for each connection or request; a confirmation is valid at all of them. */
export function mcpServers({ service, version, now, failed }: McpOptions): (client: McpClient) => McpServerFactory {
  const confirmations = new Confirmations(now);
  return ({ access, name }) =>
    () => {
      const server = new Server(
        { name: "rigbridge", title: "Rigbridge", version },
        { capabilities: { tools: {} }, instructions },
      );
      const callerOf = (context: ServerContext): Caller => ({
        ...access,
        actor: mcpActor(clientOf(server, context)[CLIENT_INFO_META_KEY]?.name ?? name),
      });
      server.setRequestHandler("tools/list", async (_request, context) => ({
        tools: (await usable(service, callerOf(context))).map(entryOf),
      }));
      server.setRequestHandler("tools/call", async ({ params }, context) => {
        const caller = callerOf(context);
        const tool = await toolNamed(params.name, service, caller);
        const toolContext: ToolContext = { service, caller, signal: context.mcpReq.signal, now };
        try {
          const args = params.arguments ?? {};
          if (!tool.acts) return resultOf(await tool.read(args, toolContext));
          const asking = { canAsk: canAsk(server, context), context, confirmations };
          return await act(tool, params, await tool.plan(args, toolContext), { caller, ...asking });
        } catch (error) {
          return refusal(error, failed);
        }
      });
      return server;
    };
}

const instructions = `Rigbridge monitors and controls cryptocurrency mining rigs. ${dataNotice} Lists come in pages: pass nextCursor as cursor. Use dryRun to see what a tool would do. null means unknown.`;

/** The tools of which the service offers every operation to this caller. */
async function usable(service: MiningService, caller: Caller): Promise<readonly Tool[]> {
  const offered = new Set((await service.about(caller)).operations);
  return tools.filter(({ uses }) => uses.every((name) => offered.has(name)));
}

async function toolNamed(name: string, service: MiningService, caller: Caller): Promise<Tool> {
  const offered = await usable(service, caller);
  const tool = offered.find((each) => each.name === name);
  if (tool !== undefined) return tool;
  const names = offered.map((each) => each.name);
  const wanted = plainText(name, 60);
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `There is no tool "${wanted}" for this key${didYouMean(wanted, names)}; there are ${names.join(", ")}`,
  );
}

const entries = new Map<Tool, ToolEntry>();

/** As clients are shown it; its schema is made once. */
function entryOf(tool: Tool): ToolEntry {
  const made = entries.get(tool) ?? newEntry(tool);
  entries.set(tool, made);
  return made;
}

function newEntry({ name, title, description, input, acts }: Tool): ToolEntry {
  const { $schema: _, ...inputSchema } = z.toJSONSchema(input, { io: "input" });
  const annotations = { readOnlyHint: !acts, destructiveHint: acts, idempotentHint: !acts, openWorldHint: false };
  const entry: unknown = { name, title, description, inputSchema, annotations };
  if (isSpecType.Tool(entry)) return entry;
  throw new RigbridgeError("internal", `The tool ${name} has no valid schema`);
}

interface Asking {
  readonly caller: Caller;
  /** Whether the client can show a question to its user. */
  readonly canAsk: boolean;
  readonly context: ServerContext;
  readonly confirmations: Confirmations;
}

/** Acts, or rehearses, or asks first. */
async function act(
  tool: ActingTool,
  { arguments: args = {} }: CallToolRequest["params"],
  plan: Plan,
  { caller, canAsk: mayAsk, context, confirmations }: Asking,
): Promise<CallToolResult | InputRequiredResult> {
  const { dryRun, confirmation, ...rest } = args;
  if (dryRun === true) return resultOf(await plan.rehearse());
  if (plan.rigs.length <= mostUnasked) return resultOf(await plan.act());
  const subject = [caller, tool.name, sorted(rest), plan.rigs.toSorted((one, other) => one - other)];
  if (typeof confirmation === "string")
    return confirmations.take(confirmation, subject) ? resultOf(await plan.act()) : refused(notConfirmed);
  if (!mayAsk) return resultOf(toConfirm(plan, confirmations.issue(subject)));
  const answer = inputResponse(context.mcpReq.inputResponses, "agree");
  const state = context.mcpReq.requestState();
  if (answer.kind === "missing" || typeof state !== "string")
    return inputRequired({
      inputRequests: {
        agree: inputRequired.elicit({ message: `${plan.summary}?`, requestedSchema: Agreement }),
      },
      requestState: confirmations.issue(subject),
    });
  if (!confirmations.take(state, subject)) return refused(notConfirmed);
  const agreed = acceptedContent(context.mcpReq.inputResponses, "agree", Agreement);
  return agreed?.agree === true ? resultOf(await plan.act()) : refused("The user did not agree; nothing was done.");
}

const Agreement = z.object({ agree: z.boolean().describe("Do it now") });

const notConfirmed =
  "Nothing was done: the confirmation is unknown, used, too old, or for other arguments or rigs. Call the tool again " +
  "without it for a new one.";

const toConfirm = (plan: Plan, confirmation: string): Small => ({
  done: false,
  summary: plan.summary,
  rigs: plan.rigs.length,
  confirmation,
  validForSeconds: confirmationMs / 1_000,
  next: "Nothing was done yet. Ask the user; if they agree, call the tool with the same arguments and this confirmation.",
});

/** With its keys in order, so that the same arguments are the same subject. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  const keys = Object.keys(value).sort();
  return keys.map((key) => [key, sorted(value[key])]);
}

/** What a client says of itself: with each request, or once for the connection. */
function clientOf(server: Server, { mcpReq }: ServerContext): z.output<typeof Envelope> {
  const said = mcpReq.envelope ?? {
    [CLIENT_INFO_META_KEY]: server.getClientVersion(),
    [CLIENT_CAPABILITIES_META_KEY]: server.getClientCapabilities(),
  };
  return Envelope.safeParse(said).data ?? {};
}

const Envelope = z.object({
  [CLIENT_INFO_META_KEY]: z.object({ name: z.string() }).optional(),
  [CLIENT_CAPABILITIES_META_KEY]: z
    .object({ elicitation: z.object({ form: z.unknown(), url: z.unknown() }).partial().optional() })
    .optional(),
});

function canAsk(server: Server, context: ServerContext): boolean {
  const elicitation = clientOf(server, context)[CLIENT_CAPABILITIES_META_KEY]?.elicitation;
  // An empty object means forms, as before there were others.
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

const resultOf = (result: Small): CallToolResult => ({ content: [{ type: "text", text: JSON.stringify(result) }] });

const refused = (message: string): CallToolResult => ({ content: [{ type: "text", text: message }], isError: true });

/** What failed and why, for the model to correct itself. Messages of the service may quote rigs. */
function refusal(error: unknown, failed: (error: unknown) => void): CallToolResult {
  if (error instanceof Advice) {
    const mistakes = error.mistakes.map(({ path, message }) => ({ path, message }));
    return { ...resultOf({ error: "input.invalid", mistakes }), isError: true };
  }
  if (!(error instanceof RigbridgeError)) {
    failed(error);
    return refused("The service failed; its log says why.");
  }
  const { code, message, errors } = error;
  const mistakes = errors.map((each) => ({ path: asData(each.path), message: asData(each.message, longestMessage) }));
  return {
    ...resultOf({
      error: code,
      message: asData(message, longestMessage),
      ...(mistakes.length > 0 ? { mistakes } : {}),
    }),
    isError: true,
  };
}
