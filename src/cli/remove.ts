import type { Command } from "commander";
import { RigbridgeError } from "../contract/problems.ts";
import { confirm } from "./confirm.ts";
import { failing } from "./failure.ts";
import { findRig } from "./find-rig.ts";
import { caller, type ServiceOptions, serviceCommand, withService } from "./service-options.ts";
import { printable } from "./table.ts";

interface RemoveOptions extends ServiceOptions {
  readonly yes?: true;
}

export function removeCommand(): Command {
  return serviceCommand("remove", "rigbridge remove Garage", "rigbridge remove 1000000001 --yes")
    .alias("rm")
    .description("Removes a rig and its history from a running service.")
    .argument("<rig>", "id, uid or name of the rig")
    .option("--yes", "do not ask first")
    .action(failing(remove));
}

async function remove(wanted: string, { yes, ...options }: RemoveOptions): Promise<void> {
  if (!yes && !process.stdin.isTTY)
    throw new RigbridgeError("input.invalid", "Nothing was removed: without a terminal to ask on, give --yes");
  await withService(options, async (service) => {
    const { id, name, address } = await findRig(service, wanted);
    const rig = printable((address ?? name) === name ? name : `${name} (${address})`);
    if (!yes && !(await confirm(`Remove ${rig} and its history?`, process.stdin, process.stderr))) {
      console.error("Nothing was removed.");
      process.exitCode = 1;
      return;
    }
    const { message } = await service.deleteMiner({ id }, caller);
    console.log(printable(message));
  });
}
