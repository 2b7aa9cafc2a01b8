import { Command, InvalidArgumentError, Option } from "commander";
import { defaultFile } from "./default-files.ts";
import { failing } from "./failure.ts";
import type { ServeOptions } from "./run-service.ts";
import { examples } from "./service-options.ts";

export function serveCommand(): Command {
  return new Command("serve")
    .description("Runs the service: polls the rigs and serves the HTTP API.")
    .option("--config <file>", `configuration file (default: ${defaultFile}, if it exists)`)
    .option("--data <folder>", `folder for the store and other files, and for ${defaultFile} if there is one`)
    .option("--make-key", "if no API key is set: create one at the first start, print it once, keep it with the store")
    .option("--demo", "add a demo farm of virtual rigs")
    .option("--without-rules", "start with all rules and schedules off, to change or delete one that does harm")
    .option("--accept-restored", "use a PostgreSQL database that was restored from a backup, for this start")
    .option("--host <address>", "address to listen on, overrides the configuration")
    .addOption(
      new Option(
        "--lan",
        "open to your network: listen on all addresses, and create an API key as with --make-key if none is set",
      ).conflicts("host"),
    )
    .option("--port <number>", "port to listen on, overrides the configuration", portNumber)
    .addHelpText(
      "after",
      examples("rigbridge serve --lan", "rigbridge serve --data /var/lib/rigbridge --host 0.0.0.0 --make-key"),
    )
    .action(failing(serve));
}

/** The server is loaded only now, so that the help appears quickly. */
async function serve(options: ServeOptions): Promise<void> {
  const { runService } = await import("./run-service.ts");
  await runService(options);
}

function portNumber(text: string): number {
  if (/^[0-9]{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError("It must be a whole number from 0 to 65535.");
}
