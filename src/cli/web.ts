import { Command, Option } from "commander";
import { failing } from "./failure.ts";
import type { WebOptions } from "./run-web.ts";
import { examples, secretsHelp, serviceOptions } from "./service-options.ts";

export function webCommand(): Command {
  const command = new Command("web");
  for (const option of serviceOptions()) command.addOption(option);
  return command
    .description("Serves the dashboard for a running service, Rigbridge or Awesome Miner.")
    .option("--config <file>", "take the settings from the http section of this configuration file")
    .option("--host <address>", "address to listen on (default: 127.0.0.1)")
    .option("--port <number>", "port to listen on (default: 17792)")
    .addOption(
      new Option("--web-key <key>", "key that people log in with here; required beyond this machine").env(
        "RIGBRIDGE_WEB_KEY",
      ),
    )
    .addHelpText("after", `${keysHelp}${secretsHelp}`)
    .addHelpText("after", examples("rigbridge web --service http://192.168.1.9:17790"))
    .action(failing(web));
}

const keysHelp =
  "\n--key is the key of the service, which stays in this process: everybody who may log in here does what that key may.\n";

/** The server is loaded only now, so that the help appears quickly. */
async function web(options: WebOptions): Promise<void> {
  const { runWeb } = await import("./run-web.ts");
  await runWeb(options);
}
