import type { Command } from "commander";
import type { MinerStatus } from "../contract/resources.ts";
import { isColoured } from "./colours.ts";
import { failing } from "./failure.ts";
import { rigFields, rigTable } from "./rig-table.ts";
import { caller, type ServiceOptions, serviceCommand, withService } from "./service-options.ts";

interface ListOptions extends ServiceOptions {
  readonly down?: true;
  readonly group?: string;
  readonly json?: true;
}

/** The states of a rig that nobody stopped. */
const down: MinerStatus[] = ["Disconnected", "Error"];

export function listCommand(): Command {
  return serviceCommand("list", "rigbridge list --down", 'rigbridge list --group "Hall 1" --json')
    .alias("ls")
    .description("Lists the rigs of a running service.")
    .option("--down", `only rigs that are ${down.join(" or ")}`)
    .option("--group <name>", "only rigs of this group and its groups, by its name or id")
    .option("--json", "print the rows of GET /api/miners/rows as JSON, in SI units")
    .action(failing(list));
}

async function list({ down: isDown, group, json, ...options }: ListOptions): Promise<void> {
  const filter = {
    ...(isDown ? { status: down } : {}),
    ...(group === undefined ? {} : { group: /^\d+$/.test(group) ? Number(group) : group }),
  };
  const { miners } = await withService(options, (service) =>
    service.listMinerRows({ view: "list", fields: [...rigFields], ...filter }, caller),
  );
  if (json) console.log(JSON.stringify(miners, null, 2));
  else if (miners.length > 0) console.log(rigTable(miners, { coloured: isColoured(process.stdout) }).join("\n"));
  else console.log(noRigs(isDown === true, group));
}

function noRigs(isDown: boolean, group: string | undefined): string {
  if (isDown) return "No rig is down.";
  return group === undefined ? "There are no rigs; add one: rigbridge add ADDRESS" : "There are no rigs in this group.";
}
