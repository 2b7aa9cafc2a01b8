import { downloadTargetFor } from "../../catalogue/mining-program.ts";
import { miningSoftware, programOf } from "../../catalogue/mining-software.ts";
import type { OwnSoftware } from "../../contract/agent.ts";

/** What the service needs to know of mining software; the rest is the agent's matter. */
export interface Software {
  readonly id: string;
  readonly name: string;
  /** The driver that reads its API; null for none. */
  readonly api: string | null;
  /** Ids of the algorithms that it mines. */
  readonly algorithms: readonly string[];
  /** The second algorithms that it can mine beside one of them; null = not known. */
  dualsOf(algorithm: string): readonly string[] | null;
}

/** Software of the catalogue, or of the configuration of a host's agent. */
export function softwareOf(id: string, own: readonly OwnSoftware[]): Software | undefined {
  const ofHost = own.find((each) => each.id === id);
  if (ofHost !== undefined) return { ...ofHost, dualsOf: () => null };
  const known = programOf(id);
  if (known === undefined) return undefined;
  return {
    ...{ id, name: known.name, api: known.api },
    algorithms: Object.keys(known.algorithms),
    dualsOf: (algorithm) => Object.keys(known.dual[algorithm] ?? {}),
  };
}

/** Where its files come from; null where no address is known. `system`: as the host's agent reports it. */
export function downloadOf(
  id: string,
  system: string,
): { readonly url: string; readonly sha256: string | null } | null {
  const target = downloadTargetFor(system);
  const download = programOf(id)?.download;
  const url = target === null ? undefined : download?.url[target];
  return target === null || url === undefined ? null : { url, sha256: download?.sha256?.[target] ?? null };
}

/** GET /api/miningsoftware: the catalogue, and the programs of agents' own configurations. */
export function softwareList(own: Iterable<OwnSoftware>): { readonly id: string; readonly name: string }[] {
  const list = new Map(miningSoftware.map(({ id, name }) => [id, { id, name }]));
  for (const { id, name } of own) if (!list.has(id)) list.set(id, { id, name });
  return [...list.values()];
}
