import { setFlagsFromString } from "node:v8";
import { Command } from "commander";
import { tokenCommand } from "./agent-token.ts";
import { defaultAgentFile } from "./default-files.ts";
import { failing } from "./failure.ts";
import type { RunAgentOptions } from "./run-agent.ts";
import { examples } from "./service-options.ts";

export function agentCommand(): Command {
  const command = new Command("agent")
    .description("Runs mining programs on this host for a service elsewhere.")
    // The options of `token` have the same names.
    .enablePositionalOptions()
    .option("--service <url>", "address of the service, such as https://rigs.example; several with commas")
    .option(
      "--token <token>",
      "from `rigbridge agent token`; safer in RIGBRIDGE_AGENT_TOKEN, since other users can see arguments",
    )
    .option("--config <file>", `configuration file (default: ${defaultAgentFile}, if it exists)`)
    .option("--data <folder>", "the agent's own folder: state, logs, programs (default: rigbridge-agent)")
    .option("--ca <file>", "certificate of the CA that signed the service's")
    .option("--insecure", "send the token unencrypted outside private networks, and accept any certificate")
    .option("--end-programs", "stop the programs that an agent has left running, then exit")
    .addHelpText("after", examples("RIGBRIDGE_AGENT_TOKEN=secret rigbridge agent --service http://192.168.1.9:17790"))
    .action(failing(agent));
  return command.addCommand(tokenCommand().copyInheritedSettings(command));
}

/** Loaded only now, so that the help appears quickly. `--optimize-for-size`: a host's memory is needed for mining. */
async function agent(options: RunAgentOptions): Promise<void> {
  // The optimising compilers take 9 MB, and little code runs often here.
  for (const flag of ["--optimize-for-size", "--no-opt", "--no-maglev", "--no-sparkplug"]) setFlagsFromString(flag);
  const { runAgent } = await import("./run-agent.ts");
  await runAgent(options);
}
