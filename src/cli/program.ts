import { Command } from "commander";
import { version } from "../version.ts";

/** The commands, one file each. */
const commands = {
  serve: async () => (await import("./serve.ts")).serveCommand(),
  read: async () => (await import("./read.ts")).readCommand(),
  scan: async () => (await import("./scan.ts")).scanCommand(),
  list: async () => (await import("./list.ts")).listCommand(),
  add: async () => (await import("./add.ts")).addCommand(),
  import: async () => (await import("./import.ts")).importCommand(),
  export: async () => (await import("./import.ts")).exportCommand(),
  places: async () => (await import("./places.ts")).placesCommand(),
  locate: async () => (await import("./places.ts")).locateCommand(),
  sightings: async () => (await import("./sightings.ts")).sightingsCommand(),
  remove: async () => (await import("./remove.ts")).removeCommand(),
  act: async () => (await import("./act.ts")).actCommand(),
  notifications: async () => (await import("./notifications.ts")).notificationsCommand(),
  rules: async () => (await import("./rules.ts")).rulesCommand(),
  curtail: async () => (await import("./curtail.ts")).curtailCommand(),
  facility: async () => (await import("./facility.ts")).facilityCommand(),
  signals: async () => (await import("./signals.ts")).signalsCommand(),
  watch: async () => (await import("./watch.ts")).watchCommand(),
  doctor: async () => (await import("./doctor.ts")).doctorCommand(),
  backup: async () => (await import("./backup.ts")).backupCommand(),
  restore: async () => (await import("./backup.ts")).restoreCommand(),
  store: async () => (await import("./store.ts")).storeCommand(),
  notify: async () => (await import("./notify.ts")).notifyCommand(),
  simulate: async () => (await import("./simulate.ts")).simulateCommand(),
  agent: async () => (await import("./agent.ts")).agentCommand(),
  mqtt: async () => (await import("./mqtt.ts")).mqttCommand(),
  mcp: async () => (await import("./mcp.ts")).mcpCommand(),
  web: async () => (await import("./web.ts")).webCommand(),
  config: async () => (await import("./config.ts")).configCommand(),
};

/** Other names of commands, as the commands define them. */
const aliases: Readonly<Record<string, string>> = { ls: "list", rm: "remove" };

/** The command line. Loads only the command named by the first argument, or all of them without one. */
export async function program([name = ""]: readonly string[]): Promise<Command> {
  const rigbridge = new Command("rigbridge")
    .description("Monitors and controls mining rigs, and serves a documented HTTP API for them.")
    .version(version)
    // `agent` and `agent token` have options of the same names. The commands inherit it.
    .enablePositionalOptions()
    .showHelpAfterError("(use --help for details)");
  const all = Object.entries(commands);
  const wanted = Object.hasOwn(aliases, name) ? aliases[name] : name;
  const named = all.filter(([key]) => key === wanted);
  for (const [, load] of named.length > 0 ? named : all)
    rigbridge.addCommand((await load()).copyInheritedSettings(rigbridge));
  return rigbridge;
}
