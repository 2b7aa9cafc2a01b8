import { Command, InvalidArgumentError } from "commander";
import { defaultFile } from "./config.ts";
import { failing } from "./failure.ts";

export interface ServeOptions {
  /** The configuration file; absent: the default one if it is there. */
  readonly config?: string;
  /** Where the store is, and the configuration unless it is named. */
  readonly data?: string;
  readonly demo?: true;
  readonly makeKey?: true;
  readonly host?: string;
  readonly port?: number;
}

export function serveCommand(): Command {
  return new Command("serve")
    .description("Runs the service: reads the rigs and serves the HTTP API over them.")
    .option("--config <file>", `the configuration (default: ${defaultFile}, if it is there)`)
    .option("--data <folder>", "keep everything here: the store, and rigbridge.yaml if there is one")
    .option("--make-key", "without an API key: make one at the first start, show it once, and keep it with the store")
    .option("--demo", "add a farm of virtual rigs")
    .option("--host <address>", "listen here, whatever the configuration says")
    .option("--port <number>", "likewise", portNumber)
    .action(failing(serve));
}

/** The server is loaded only now, so that other commands start faster. */
async function serve(options: ServeOptions): Promise<void> {
  const { runService } = await import("./run-service.ts");
  await runService(options);
}

function portNumber(text: string): number {
  if (/^[0-9]{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError("It must be a whole number from 0 to 65535.");
}
