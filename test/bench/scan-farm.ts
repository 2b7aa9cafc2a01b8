import { z } from "zod";
import { programPorts, usualPorts } from "../../src/link/ports.ts";
import { plainRig, rigKinds, standardPorts, startFarm } from "../../src/simulator/index.ts";
import { answering } from "./child.ts";

const scanned = [...usualPorts, ...programPorts];
/** Some mining programs have no usual port; nobody finds them without being told theirs. */
const kinds = rigKinds.filter((kind) => standardPorts[kind].some((port) => scanned.includes(port)));

/** Rigs of all kinds in turn, at their usual ports, as a process of its own. */
answering({
  start: async (input) => {
    const hosts = z.array(z.string()).parse(input);
    const rigs = hosts.map((host, index) => {
      const kind = kinds[index % kinds.length] ?? "cgminer";
      const [only, ...others] = standardPorts[kind];
      return plainRig(kind, { host, warm: true, ...(others.length === 0 ? { port: only } : { usualPorts: true }) });
    });
    await startFarm({ rigs });
  },
});
