import { z } from "zod";
import { parseNetworks, planSearch } from "../../src/link/networks.ts";
import { usualPorts } from "../../src/link/ports.ts";
import { scan } from "../../src/link/scan.ts";
import { answering } from "./child.ts";

/** A scan in a process of its own, as the command has. */
answering({
  scan: async (input) => {
    const plan = planSearch(parseNetworks([z.string().parse(input)]), { ports: usualPorts, yes: false });
    let found = 0;
    const count = (): void => {
      found += 1;
    };
    const began = performance.now();
    await scan({ plan, signal: new AbortController().signal, found: count });
    return { seconds: (performance.now() - began) / 1000, found };
  },
});
