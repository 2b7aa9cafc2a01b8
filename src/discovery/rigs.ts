import { networkInterfaces } from "node:os";
import { RigbridgeError } from "../contract/problems.ts";
import type { Progress } from "../link/scan.ts";

export interface FoundRigAt {
  /** As a user types it: without a default port. */
  readonly address: string;
  /** Make and model. */
  readonly what: string;
  readonly hostname: string | null;
  /** Why it cannot be read. */
  readonly note: string | null;
}

export interface RigSearch {
  /** Like 192.168.1.0/24 or 192.168.1.10:8080; absent = the private networks of this machine. */
  readonly networks?: readonly string[];
  readonly signal: AbortSignal;
  found(rig: FoundRigAt): void;
  progress?(progress: Progress): void;
}

/**
 * Finds rigs in private networks of at most 65,536 addresses, and in the machine's own networks those that announce
 * themselves. Resolves with sentences about what was not searched. Throws `input.invalid` for networks that cannot be
 * searched, `not.possible` if there is none. The drivers are loaded only here.
 */
export async function findRigs({ networks, signal, found, progress }: RigSearch): Promise<readonly string[]> {
  const { ownNetworks, parseNetworks, planSearch } = await import("../link/networks.ts");
  const { describeRig, scan } = await import("../link/scan.ts");
  const { usualPorts } = await import("../link/ports.ts");
  const { listenForRigs } = await import("./announced-rigs.ts");
  const own = ownNetworks(networkInterfaces());
  const isOwn = networks === undefined || networks.length === 0;
  const searched = isOwn ? own.networks : parseNetworks(networks);
  if (searched.length === 0)
    throw new RigbridgeError("not.possible", "This machine is not in a private network; name the network to search");
  const plan = planSearch(searched, { ports: usualPorts, yes: false });
  const listening = isOwn ? listenForRigs({ interfaces: own.addresses, signal }) : { announced: [], notes: [] };
  await scan({
    plan,
    announced: Promise.resolve(listening).then(({ announced }) => announced),
    signal,
    found: ({ address, identity, note }) =>
      found({ address, what: describeRig(identity), hostname: identity.hostname, note }),
    ...(progress === undefined ? {} : { progress }),
  });
  return isOwn ? [...own.notes, ...(await listening).notes] : [];
}
