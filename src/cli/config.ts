import { Command } from "commander";
import { type Config, configSchema, readConfig } from "../config/index.ts";
import { defaultFile } from "./default-files.ts";
import { failing } from "./failure.ts";
import { counted } from "./table.ts";

export function configCommand(): Command {
  const config = new Command("config").description(
    "Checks the configuration file, or prints its JSON Schema for editors.",
  );
  config
    .command("check")
    .description("Prints ok, or every mistake with its line number.")
    .argument("[file]", "configuration file", defaultFile)
    .action(failing(check));
  config
    .command("schema")
    .description("Prints the JSON Schema of the configuration.")
    .action(() => console.log(JSON.stringify(configSchema(), null, 2)));
  return config;
}

async function check(file: string): Promise<void> {
  const { config, warnings } = await readConfig(file);
  for (const warning of warnings) console.error(`Warning: ${warning}`);
  console.log(`${file}: ok (${counts(config)})`);
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

/** Including the groups inside them. */
const groupsIn = (groups: Config["groups"]): number =>
  groups.reduce((sum, { groups: inside = [] }) => sum + 1 + groupsIn(inside), 0);
