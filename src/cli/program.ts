import { Command } from "commander";
import { version } from "../version.ts";
import { actCommand } from "./act.ts";
import { configCommand } from "./config.ts";
import { mqttCommand } from "./mqtt.ts";
import { readCommand } from "./read.ts";
import { scanCommand } from "./scan.ts";
import { serveCommand } from "./serve.ts";
import { simulateCommand } from "./simulate.ts";

/** The command line: one file a command. */
export function program(): Command {
  const rigbridge = new Command("rigbridge")
    .description("Reads and steers mining rigs, and serves a documented HTTP API over them.")
    .version(version)
    .showHelpAfterError("(--help says more)");
  const commands = [
    serveCommand(),
    readCommand(),
    scanCommand(),
    actCommand(),
    simulateCommand(),
    mqttCommand(),
    configCommand(),
  ];
  for (const command of commands) rigbridge.addCommand(command.copyInheritedSettings(rigbridge));
  return rigbridge;
}
