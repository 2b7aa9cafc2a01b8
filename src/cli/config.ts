import { basename } from "node:path";
import { Command } from "commander";
import { AgentSettings, readAgentFile } from "../agent/settings.ts";
import { parseYaml } from "../config/document.ts";
import { readText } from "../config/file.ts";
import { Config, configSchema, readConfig } from "../config/index.ts";
import { isRecord } from "../contract/record.ts";
import { defaultAgentFile, defaultFile } from "./default-files.ts";
import { failing } from "./failure.ts";
import { examples } from "./service-options.ts";
import { settingsCommands } from "./settings.ts";
import { counted } from "./table.ts";

export function configCommand(): Command {
  const config = new Command("config")
    .description(
      "Checks the configuration file, prints its JSON Schema for editors, and moves settings between a file and a service.",
    )
    .addHelpText("after", examples("rigbridge config check"));
  config
    .command("check")
    .description("Prints ok, or every mistake with its line number.")
    .argument("[file]", "configuration file of the service or of an agent", defaultFile)
    .addHelpText("after", examples("rigbridge config check /etc/rigbridge/rigbridge.yaml"))
    .action(failing(check));
  config
    .command("schema")
    .description("Prints the JSON Schema of the configuration.")
    .addHelpText("after", examples("rigbridge config schema > rigbridge.schema.json"))
    .action(() => console.log(JSON.stringify(configSchema(), null, 2)));
  for (const each of settingsCommands()) config.addCommand(each);
  return config;
}

async function check(file: string): Promise<void> {
  const { contents, warnings } = (await isOfAgent(file)) ? await checkAgent(file) : await checkService(file);
  for (const warning of warnings) console.error(`Warning: ${warning}`);
  console.log(`${file}: ok (${contents})`);
}

async function checkService(file: string) {
  const { config, warnings } = await readConfig(file);
  return { contents: counts(config), warnings };
}

async function checkAgent(file: string) {
  const { settings, warnings } = await readAgentFile(file);
  const programs = counted(settings.software.length, "declared program");
  return { contents: `an agent's file, ${programs}`, warnings };
}

/** Recognised by its name, or by keys that only an agent's file has. */
async function isOfAgent(file: string): Promise<boolean> {
  if (basename(file) === defaultAgentFile) return true;
  const { value } = parseYaml(await readText(file));
  const keys = isRecord(value) ? Object.keys(value) : [];
  const [ofAgent, ofService] = [AgentSettings.shape, Config.shape];
  return (
    keys.some((key) => key in ofAgent && !(key in ofService)) &&
    !keys.some((key) => key in ofService && !(key in ofAgent))
  );
}

/** "3 miners, 1 pool". */
function counts({ miners, groups, pools, poolGroups, users }: Config): string {
  const parts = [
    counted(miners.length, "miner"),
    counted(groupsIn(groups), "group"),
    counted(pools.length, "pool"),
    counted(poolGroups.length, "pool group"),
    counted(users.length, "user"),
  ];
  return parts.filter((part, index) => index === 0 || !part.startsWith("0 ")).join(", ");
}

/** Including subgroups. */
const groupsIn = (groups: Config["groups"]): number =>
  groups.reduce((sum, { groups: inside = [] }) => sum + 1 + groupsIn(inside), 0);
