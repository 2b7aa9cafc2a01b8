import { Command, Option } from "commander";
import type { connectService } from "../client/index.ts";
import { RigbridgeError } from "../contract/problems.ts";
import type { Caller } from "../contract/service.ts";
import { urlsIn } from "../contract/service-urls.ts";

/** How a command reaches a running service. */
export const serviceOptions = (): Option[] => [
  new Option("--service <url>", "URL of the service; several with commas: the first that answers is used")
    .default("http://127.0.0.1:17790")
    .env("RIGBRIDGE_SERVICE"),
  new Option("--key <key>", "API key of the service").env("RIGBRIDGE_KEY"),
  new Option("--locale <tag>", "number format of a service that is not Rigbridge, such as sv-SE (default: en-US)"),
];

/** As `serviceOptions` are parsed. */
export interface ServiceOptions {
  readonly service: string;
  readonly key?: string;
  readonly locale?: string;
}

export const secretsHelp =
  "\nOther users of this machine can see the options of a command;\npass secrets in environment variables instead.";

/** The end of a command's help. */
export const examples = (...lines: readonly string[]): string =>
  ["", lines.length === 1 ? "Example:" : "Examples:", ...lines.map((line) => `  ${line}`)].join("\n");

/** A command for a running service, with the options for its address and key. */
export function serviceCommand(name: string, ...lines: readonly string[]): Command {
  const command = new Command(name).addHelpText("after", secretsHelp).addHelpText("after", examples(...lines));
  for (const option of serviceOptions()) command.addOption(option);
  return command;
}

export type Client = ReturnType<typeof connectService>;

/** Who the audit trail names for the commands. */
export const caller: Caller = { actor: "command line" };

/** Connects, and closes the connection at the end. Throws like `use`, with advice for the command line. */
export async function withService<T>(
  { service: url, key, locale }: ServiceOptions,
  use: (service: Client) => Promise<T>,
): Promise<T> {
  // Loaded only now, so that the help appears quickly.
  const { connectService } = await import("../client/index.ts");
  const service = connectService({ url, key, ...(locale === undefined ? {} : { locale }) });
  try {
    return await use(service);
  } catch (error) {
    throw withAdvice(error, url);
  } finally {
    await service.close();
  }
}

/** The origins of one or several URLs, for people. */
export const originsOf = (url: string): string =>
  urlsIn(url)
    .map((each) => new URL(each).origin)
    .join(", ");

/** Adds advice for the command line to an error. */
export function withAdvice(error: unknown, url: string): unknown {
  if (!(error instanceof RigbridgeError)) return error;
  if (error.code === "key.missing" || error.code === "key.wrong")
    return new RigbridgeError(error.code, `${error.message} (set the key in RIGBRIDGE_KEY)`);
  if (error.code !== "service.unreachable") return error;
  const advice = "start one with npm start, or give its URL with --service";
  return new RigbridgeError(error.code, `No service answers at ${originsOf(url)}; ${advice}\n${error.message}`);
}
