import { z } from "zod";
import { parseNetwork, placesOf, planSearch } from "../../src/link/networks.ts";
import { usualPorts } from "../../src/link/ports.ts";
import { silentHosts } from "../silent-hosts.ts";
import { Child } from "./child.ts";
import { LeftOut } from "./left-out.ts";
import { type Measured, measured } from "./statistics.ts";

const Scanned = z.object({ seconds: z.number(), found: z.number() });

/** Rigs evenly spread in a network whose other addresses never answer. */
async function scanOf(name: string, network: string, rigs: number, rounds: number): Promise<Measured> {
  const plan = planSearch([parseNetwork(network)], { ports: usualPorts, yes: false });
  const hosts = [...placesOf(plan)].map(({ host }) => host);
  const withRig = new Set(Array.from({ length: rigs }, (_, index) => hosts[Math.floor((index * hosts.length) / rigs)]));
  const silence = await silentHosts(
    hosts.filter((host) => !withRig.has(host)),
    usualPorts,
  );
  const seconds: number[] = [];
  try {
    const farm = new Child("scan-farm.ts");
    await farm.tell("start", [...withRig]);
    for (let round = 0; round < rounds; round += 1) {
      const child = new Child("scanning.ts");
      const scanned = await child.ask(Scanned, "scan", network);
      await child.end();
      if (scanned.found !== rigs) throw new Error(`${scanned.found} of ${rigs} rigs were found in ${network}`);
      seconds.push(scanned.seconds);
    }
    await farm.end();
  } finally {
    await silence.end();
  }
  return measured(name, seconds, `all ${rigs} rigs found, ${hosts.length - rigs} addresses never answer`);
}

/** On addresses that nothing else listens at, at the usual ports of rigs: as root, on Linux. */
export async function scans(quick: boolean): Promise<Measured[]> {
  // Elsewhere one address of 127.0.0.0/8 is the machine's, and only root listens at port 80.
  if (process.platform !== "linux" || process.getuid?.() !== 0) throw new LeftOut("it needs root on Linux");
  const rounds = quick ? 1 : 5;
  return [
    await scanOf("scan.24.seconds", "127.105.0.0/24", 10, rounds),
    await scanOf("scan.22.seconds", "127.105.4.0/22", quick ? 40 : 441, rounds),
  ];
}
