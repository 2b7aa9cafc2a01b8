import { call } from "../../api.ts";
import { byName } from "../../format.ts";
import { groupName } from "../../groups.ts";
import { may } from "../../session.ts";
import type { Catalogue } from "./miner-data.ts";

const sorted = <T extends { readonly name: string }>(list: readonly T[]): T[] =>
  [...list].sort((one, other) => byName(one.name, other.name));

export async function readCatalogue(signal: AbortSignal): Promise<Catalogue> {
  const [hosts, groups, software, algorithms, pools, poolGroups] = await Promise.all([
    call("listHosts", {}, { signal }),
    may("listGroups") ? call("listGroups", {}, { signal }) : [],
    may("listMiningSoftware") ? call("listMiningSoftware", {}, { signal }) : [],
    may("listAlgorithms") ? call("listAlgorithms", {}, { signal }) : [],
    may("listPools") ? call("listPools", {}, { signal }) : null,
    may("listPoolGroups") ? call("listPoolGroups", {}, { signal }) : [],
  ]);
  return {
    hosts: sorted(
      hosts.map(({ id, description, hostname, agent }) => ({
        id,
        name: description === "" ? hostname : description,
        limits:
          agent?.permissions && agent.software ? { permissions: agent.permissions, software: agent.software } : null,
      })),
    ),
    groups: sorted(groups.map(({ id }) => ({ id, name: groupName(groups, id) }))),
    software: sorted(software),
    algorithms: sorted(algorithms),
    pools: [
      ...sorted(
        (pools?.list ?? []).map(({ id, description, url }) => ({
          id: `p${id}`,
          name: description === "" ? url : description,
        })),
      ),
      ...sorted(poolGroups.map(({ id, name }) => ({ id: `g${id}`, name }))),
    ],
  };
}
