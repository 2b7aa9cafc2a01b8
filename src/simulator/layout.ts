import type { FarmOptions } from "./farm.ts";
import { plainRig, type RigKind, type RigSpec, rigKinds, standardPorts } from "./rig-spec.ts";

/** The number of rigs of each kind, repeated in turn. */
export type FarmMix = Readonly<Partial<Record<RigKind, number>>>;

export type FarmLayout =
  /** All on 127.0.0.1, on consecutive ports from this one on. */
  | { readonly basePort: number }
  /** Each with its own address, from 127.1.0.1 on, at the given port of its kind or the standard ones. */
  | { readonly ports: Readonly<Partial<Record<RigKind, number>>> };

/** The access token of the XMRigs of `farmOf`. */
export const farmToken = "simulated";

const perOctet = 250;

function addressOf(index: number): string {
  const last = 1 + (index % perOctet);
  const third = Math.floor(index / perOctet) % perOctet;
  const second = 1 + Math.floor(index / perOctet ** 2);
  return `127.${second}.${third}.${last}`;
}

/** The kinds in the order of the mix, each repeated by its number. */
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
    : plainRig(kind, { ...place, warm: true });
}

const portOf = (kind: RigKind, port: number | undefined): Pick<RigSpec, "port" | "usualPorts"> => {
  if (port !== undefined) return { port };
  const [only, ...others] = standardPorts[kind];
  return others.length === 0 ? { port: only } : { usualPorts: true };
};

/** 1 to 40,000 warm rigs for `startFarm`. */
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
