import { Option } from "commander";
import { RigbridgeError } from "../contract/problems.ts";

/** How a command reaches a running service. */
export const serviceOptions = (): Option[] => [
  new Option("--service <url>", "URL of the service").default("http://127.0.0.1:17790").env("RIGBRIDGE_SERVICE"),
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

/** Adds advice for the command line to an error. */
export function withAdvice(error: unknown, url: string): unknown {
  if (!(error instanceof RigbridgeError)) return error;
  if (error.code === "key.missing" || error.code === "key.wrong")
    return new RigbridgeError(error.code, `${error.message} (set the key in RIGBRIDGE_KEY)`);
  if (error.code !== "service.unreachable") return error;
  const advice = "start one with npm start, or give its URL with --service";
  return new RigbridgeError(error.code, `No service answers at ${new URL(url).origin}; ${advice}\n${error.message}`);
}
