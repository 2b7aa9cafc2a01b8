import { Command } from "commander";
import { version } from "../version.ts";

/** The commands, one file each. */
const commands = {
  serve: async () => (await import("./serve.ts")).serveCommand(),
  read: async () => (await import("./read.ts")).readCommand(),
  scan: async () => (await import("./scan.ts")).scanCommand(),
  act: async () => (await import("./act.ts")).actCommand(),
  notify: async () => (await import("./notify.ts")).notifyCommand(),
  simulate: async () => (await import("./simulate.ts")).simulateCommand(),
  agent: async () => (await import("./agent.ts")).agentCommand(),
  mqtt: async () => (await import("./mqtt.ts")).mqttCommand(),
  web: async () => (await import("./web.ts")).webCommand(),
  config: async () => (await import("./config.ts")).configCommand(),
};

const see = "rigs are listed on the dashboard, and by `curl http://127.0.0.1:17790/api/miners`";
const add = "rigs are added on the dashboard, in rigbridge.yaml, or by POST /api/miners";
const remove = "rigs are removed on the dashboard, or by DELETE /api/miners/{id}";
/** Commands that people expect and that do not exist yet, with alternatives. */
const absent: Readonly<Record<string, string>> = { list: see, ls: see, status: see, add, remove, rm: remove };

/** The command line. Loads only the command named by the first argument, or all of them without one. */
export async function program([name = ""]: readonly string[]): Promise<Command> {
  const rigbridge = new Command("rigbridge")
    .description("Monitors and controls mining rigs, and serves a documented HTTP API for them.")
    .version(version)
    // `agent` and `agent token` have options of the same names. The commands inherit it.
    .enablePositionalOptions()
    .showHelpAfterError("(use --help for details)");
  const all = Object.entries(commands);
  const named = all.filter(([key]) => key === name);
  for (const [, load] of named.length > 0 ? named : all)
    rigbridge.addCommand((await load()).copyInheritedSettings(rigbridge));
  if (Object.hasOwn(absent, name)) rigbridge.error(`There is no command "${name}" yet: ${absent[name]}`);
  return rigbridge;
}
