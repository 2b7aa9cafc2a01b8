import type { FarmOptions } from "./farm.ts";
import { type RigKind, type RigSpec, rigKinds, standardPorts } from "./rig-spec.ts";

/** How many of each kind in so many rigs. */
export type FarmMix = Readonly<Partial<Record<RigKind, number>>>;

export type FarmLayout =
  /** All on 127.0.0.1, each with a port of its own from here on. */
  | { readonly basePort: number }
  /** Each with an address of its own, 127.1.0.1 and on, and the port of its kind, unless another is given. */
  | { readonly ports: Readonly<Partial<Record<RigKind, number>>> };

/** The access token of virtual XMRigs that are made by number. */
export const farmToken = "simulated";

const perOctet = 250;

function addressOf(index: number): string {
  const last = 1 + (index % perOctet);
  const third = Math.floor(index / perOctet) % perOctet;
  const second = 1 + Math.floor(index / perOctet ** 2);
  return `127.${second}.${third}.${last}`;
}

/** The kinds in turn, in the order of the mix, each as often as it says. */
function kindsOf(mix: FarmMix): RigKind[] {
  const kinds = Object.keys(mix).flatMap((name) => {
    const kind = rigKinds.find((known) => known === name);
    return kind === undefined ? [] : Array<RigKind>(mix[kind] ?? 0).fill(kind);
  });
  return kinds.length === 0 ? ["cgminer"] : kinds;
}

function specOf(kind: RigKind, index: number, layout: FarmLayout): RigSpec {
  const place =
    "basePort" in layout
      ? { port: layout.basePort + index }
      : { host: addressOf(index), ...portOf(kind, layout.ports[kind]) };
  return kind === "xmrig"
    ? { kind, ...place, warm: true, token: farmToken, restricted: false }
    : { kind, ...place, warm: true };
}

const portOf = (kind: RigKind, port: number | undefined): Pick<RigSpec, "port" | "usualPorts"> => {
  if (port !== undefined) return { port };
  const [only, ...others] = standardPorts[kind];
  return others.length === 0 ? { port: only } : { usualPorts: true };
};

/** Many rigs for `startFarm`, all warmed up; one to 40,000 of them. */
export function farmOf(
  count: number,
  mix: FarmMix = { cgminer: 1 },
  layout: FarmLayout = { ports: {} },
): Pick<FarmOptions, "rigs" | "oneListener"> {
  const kinds = kindsOf(mix);
  const rigs = Array.from({ length: count }, (_, index) =>
    specOf(kinds[index % kinds.length] ?? "cgminer", index, layout),
  );
  return { rigs, oneListener: !("basePort" in layout) };
}
