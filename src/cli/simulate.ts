import { once } from "node:events";
import { Command } from "commander";
import { stringify } from "yaml";
import { farmToken, type SimulatedRig, startFarm, startTwin, type Twin, type TwinOptions } from "../simulator/index.ts";
import { failing } from "./failure.ts";
import {
  defaultMix,
  defaultPort,
  defaultSitePort,
  defaultTwinMiners,
  defaultTwinPort,
  farmFrom,
  maxRigs,
  maxSiteRigs,
  maxSites,
  maxTwinMiners,
  type SimulateOptions,
  sitesFrom,
  twinFrom,
} from "./farm-options.ts";
import { faultNames } from "./fault-choice.ts";
import { examples } from "./service-options.ts";
import { answerLines, linesHelp } from "./simulate-output.ts";
import { type SimulatedSites, startSites } from "./simulated-sites.ts";
import { counted, indented, pairs, table } from "./table.ts";

export function simulateCommand(): Command {
  return new Command("simulate")
    .description(
      "Runs virtual rigs that speak the real protocols, sites that have them, or a virtual Awesome Miner server, until it is stopped.",
    )
    .option("--count <n>", `number of rigs, up to ${maxRigs} (default: the total of the mix)`)
    .option("--mix <kinds>", `number of each kind, repeated until there are enough rigs (default: ${defaultMix})`)
    .option(
      "--base-port <port>",
      `port of the first rig on 127.0.0.1; the others count up from it (default: ${defaultPort})`,
    )
    .option(
      "--addresses [ports]",
      "give each rig its own address, from 127.1.0.1 on, at the default port of its kind or a given one: axeos=8081",
    )
    .option(
      "--fault <fault>",
      "fault of the rigs, from the list below: silent, silent:30% or silent=cgminer-3,axeos-4; repeatable",
      (fault: string, before: readonly string[] = []) => [...before, fault],
    )
    .option("--seed <n>", "the same seed gives the same rigs (default: 1)")
    .option(
      "--sites <n>",
      `run so many sites with --count rigs each, for the sites of a centre (up to ${maxSites}, and ${maxSiteRigs} rigs together)`,
    )
    .option("--reference", "run a server with exactly the documented API of Awesome Miner instead of rigs")
    .option("--locale <locale>", "number format of that server, such as sv-SE (default: en-US)")
    .option("--miners <n>", `number of its miners, up to ${maxTwinMiners} (default: ${defaultTwinMiners})`)
    .option("--key <key>", "API key that it requires in ?key= (default: none)")
    .option(
      "--port <port>",
      `its port on 127.0.0.1, or the port of the first site; 0 = any free one (default: ${defaultTwinPort}, of sites ${defaultSitePort})`,
    )
    .addHelpText("after", `\nWhile the rigs run, type:\n${linesHelp}\n\nFaults:\n${wrapped(faultNames)}`)
    .addHelpText(
      "after",
      examples(
        "rigbridge simulate --count 100 --mix axeos=1,cgminer=1",
        "rigbridge simulate --sites 3 --count 20            # three sites with 20 rigs each",
      ),
    )
    .action(failing(simulate));
}

async function simulate(options: SimulateOptions): Promise<void> {
  if (options.reference === undefined && options.sites === undefined) {
    const farm = await startFarm(farmFrom(options));
    await answerUntilStopped(farm.rigs, farmText(farm.rigs));
    await farm.close();
  } else if (options.reference === undefined) {
    const sites = await startSites(sitesFrom(options));
    await answerUntilStopped(sites.farm.rigs, sitesText(sites));
    await sites.close();
  } else {
    const settings = twinFrom(options);
    const twin = await startTwin(settings);
    await untilStopped(twinText(twin, settings));
    await twin.close();
  }
}

async function answerUntilStopped(rigs: readonly SimulatedRig[], text: string): Promise<void> {
  const stopped = untilStopped(text);
  const lines = answerLines(rigs, (answer) => console.log(answer));
  await stopped;
  lines?.close();
}

/** Words separated by spaces, in lines of 80 columns. */
function wrapped(words: readonly string[]): string {
  const lines = [""];
  for (const word of words) {
    const line = lines.at(-1) ?? "";
    if (line.length + word.length + 3 > 80) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return indented(lines.join("\n"));
}

async function untilStopped(text: string): Promise<void> {
  const stopped = Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
  console.log(text);
  await stopped;
}

/** Beyond this number, rigs are only counted. */
const listed = 20;

/** The addresses of the rigs, and the configuration lines that add them. */
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
    "\nTo add to rigbridge.yaml:\n",
    indented(["miners:", ...miners].join("\n")),
    "\nWhile the rigs run, type:\n",
    linesHelp,
    "\nCtrl-C stops them.",
  ].join("\n");
}

/** What a centre needs to show the sites. */
function sitesText({ sites, farm, interval }: SimulatedSites): string {
  const rigs = farm.rigs.length / sites.length;
  const section = stringify({ sites: sites.map(({ name, url, key }) => ({ name, url, key })) }).trimEnd();
  return [
    `${counted(sites.length, "site")} with ${counted(rigs, "virtual rig")} each on this machine; each rig is read every ${interval} s.`,
    "\nTo add to the rigbridge.yaml of a centre:\n",
    indented(section),
    "\nWhile the rigs run, type:\n",
    linesHelp,
    "\nCtrl-C stops them.",
  ].join("\n");
}

/** The address of the server, its identity, and how to call it. */
function twinText({ url, miners, users }: Twin, { locale = "", key }: TwinOptions): string {
  const query = key === undefined ? "" : `?key=${encodeURIComponent(key)}`;
  const rows = users.map(({ id, name, privilege, groups }) => [
    name,
    `${id}`,
    privilege,
    groups === null ? "all" : groups.join(", "),
  ]);
  return [
    `A reference server with ${counted(miners.length, "miner")} is at ${url}\n`,
    indented(
      pairs([
        ["Stands in for", "Awesome Miner: exactly its documented API, without Rigbridge extensions"],
        ["Locale", locale],
        ["API key", key === undefined ? "not required" : `${key}, as ?key= in the URL only`],
      ]),
    ),
    "\nTry it:\n",
    indented(`curl "${url}/api/miners${query}"`),
    "\nUsers (user_id):\n",
    indented(table(["Name", "Id", "Privilege", "Groups"], rows)),
    "\nCtrl-C stops it.",
  ].join("\n");
}
