import { once } from "node:events";
import { Command } from "commander";
import { farmToken, type SimulatedRig, startFarm } from "../simulator/index.ts";
import { counted } from "./config.ts";
import { failing } from "./failure.ts";
import { farmFrom, faultNames, mostRigs, type SimulateOptions, usualMix, usualPort } from "./farm-options.ts";
import { indented, table } from "./table.ts";

export function simulateCommand(): Command {
  return new Command("simulate")
    .description("Runs virtual rigs that speak the real protocols, until it is stopped.")
    .option("--count <n>", `how many rigs, up to ${mostRigs} (default: as many as the mix has)`)
    .option("--mix <kinds>", "how many of each kind in turn", usualMix)
    .option("--base-port <port>", `first of their ports on 127.0.0.1 (default: ${usualPort})`)
    .option(
      "--addresses [ports]",
      "each at an address of its own, 127.1.0.1 and on, at its kind's usual port or as given: axeos=8081",
    )
    .option("--fault <name>", `what is wrong with them: ${faultNames.join(", ")}`)
    .option("--seed <n>", "the same seed gives the same rigs", "1")
    .action(failing(simulate));
}

async function simulate(options: SimulateOptions): Promise<void> {
  const farm = await startFarm(farmFrom(options));
  const stopped = Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
  console.log(farmText(farm.rigs));
  await stopped;
  await farm.close();
}

/** As many rigs are listed one by one. */
const listed = 20;

/** Where they are, and what makes a Rigbridge read them. */
function farmText(rigs: readonly SimulatedRig[]): string {
  const first = rigs.slice(0, listed);
  const rest = rigs.length - first.length;
  const more = rest > 0 ? `\n… and ${rest.toLocaleString("en-US")} more` : "";
  const rows = first.map((rig) => [rig.address, rig.kind, rig.name, rig.kind === "xmrig" ? farmToken : ""]);
  const miners = first.map(({ address, kind, name }) => {
    const token = kind === "xmrig" ? `, token: ${farmToken}` : "";
    return `  - { address: "${address}", name: ${name}${token} }`;
  });
  return [
    `${counted(rigs.length, "virtual rig")} on this machine:\n`,
    indented(table(["Address", "Kind", "Name", "Token"], rows) + more),
    "\nFor rigbridge.yaml:\n",
    indented(["miners:", ...miners].join("\n")),
    "\nCtrl-C ends them.",
  ].join("\n");
}
