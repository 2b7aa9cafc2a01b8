import { once } from "node:events";
import { Command } from "commander";
import { farmToken, type SimulatedRig, startFarm, startTwin, type Twin, type TwinOptions } from "../simulator/index.ts";
import { counted } from "./config.ts";
import { failing } from "./failure.ts";
import {
  farmFrom,
  mostRigs,
  mostTwinMiners,
  type SimulateOptions,
  twinFrom,
  usualMix,
  usualPort,
  usualTwinMiners,
  usualTwinPort,
} from "./farm-options.ts";
import { faultNames } from "./fault-choice.ts";
import { answerLines, linesHelp } from "./simulate-output.ts";
import { indented, pairs, table } from "./table.ts";

export function simulateCommand(): Command {
  return new Command("simulate")
    .description("Runs virtual rigs that speak the real protocols, or a whole foreign server, until it is stopped.")
    .option("--count <n>", `how many rigs, up to ${mostRigs} (default: as many as the mix has)`)
    .option("--mix <kinds>", `how many of each kind in turn (default: ${usualMix})`)
    .option("--base-port <port>", `first of their ports on 127.0.0.1 (default: ${usualPort})`)
    .option(
      "--addresses [ports]",
      "each at an address of its own, 127.1.0.1 and on, at its kind's usual port or as given: axeos=8081",
    )
    .option(
      "--fault <fault>",
      "what is wrong with them, as below: silent, or silent:30%, or silent=cgminer-3,axeos-4; may be said several times",
      (fault: string, before: readonly string[] = []) => [...before, fault],
    )
    .option("--seed <n>", "the same seed gives the same rigs (default: 1)")
    .option(
      "--reference",
      "instead of rigs: a server with strictly the documented API, as the reference product has it",
    )
    .option("--locale <locale>", "how that server writes numbers, as sv-SE (default: en-US)")
    .option("--miners <n>", `how many miners it has, up to ${mostTwinMiners} (default: ${usualTwinMiners})`)
    .option("--key <key>", "the API key that it asks for in ?key= (default: none)")
    .option("--port <port>", `where it listens on 127.0.0.1, 0 = any free one (default: ${usualTwinPort})`)
    .addHelpText("after", `\nWhile rigs run, type:\n${linesHelp}\n\nFaults:\n${wrapped(faultNames)}`)
    .action(failing(simulate));
}

async function simulate(options: SimulateOptions): Promise<void> {
  if (options.reference === undefined) {
    const farm = await startFarm(farmFrom(options));
    const stopped = untilStopped(farmText(farm.rigs));
    const lines = answerLines(farm.rigs, (text) => console.log(text));
    await stopped;
    lines?.close();
    await farm.close();
  } else {
    const settings = twinFrom(options);
    const twin = await startTwin(settings);
    await untilStopped(twinText(twin, settings));
    await twin.close();
  }
}

/** Words one after the other, in lines of 80 columns. */
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
    "\nWhile they run, type:\n",
    linesHelp,
    "\nCtrl-C ends them.",
  ].join("\n");
}

/** Where it is, what it is, and how to ask it. */
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
        ["Stands in for", "the reference product: strictly the documented API, nothing of Rigbridge's own"],
        ["Locale", locale],
        ["API key", key === undefined ? "none asked for" : `${key}, as ?key= in the URL only`],
      ]),
    ),
    "\nAsk it:\n",
    indented(`curl "${url}/api/miners${query}"`),
    "\nUsers, for user_id:\n",
    indented(table(["Name", "Id", "May", "Sees groups"], rows)),
    "\nCtrl-C ends it.",
  ].join("\n");
}
