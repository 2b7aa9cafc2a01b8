import { invalid, notFound, thing } from "../../contract/problems.ts";
import type { Host } from "../../contract/resources.ts";
import type { Caller, MiningService } from "../../contract/service.ts";
import { detail } from "../../messages/detail.ts";
import type { Store, Stored, StoredHost } from "../../store/index.ts";
import { done, enabled, find, findOwn, given, refuseInUse } from "../crud.ts";
import { groupIdOf } from "../miners/groups.ts";
import type { AccessBook } from "../users/access.ts";
import { type HostAgents, neverConnected, noAgent } from "./host-agents.ts";
import type { ManagedMiners } from "./managed-miners.ts";
import { uidFor } from "./uids.ts";

type HostOperations = Pick<
  MiningService,
  "listHosts" | "getHost" | "saveHost" | "deleteHost" | "getHostSystemInfo" | "listAgents" | "addAgent" | "deleteAgent"
>;

export interface HostContext {
  readonly store: Store;
  readonly accessBook: AccessBook;
  readonly agents: HostAgents;
  readonly managed: ManagedMiners;
}

const emptyHost: StoredHost = { description: "", hostname: "", uid: null, groupId: 0, gpus: null };

/** The host, if its group is visible to this access. Throws `not.found`. */
export function visibleHost({ store, accessBook }: HostContext, id: number, caller: Caller): Stored<StoredHost> {
  const host = find(store.hosts, id, "host");
  if (!accessBook.of(caller).seesGroup(host.groupId)) throw notFound("host", id);
  return host;
}

/** Hosts, and the tokens of their agents. */
export function hostOperations(context: HostContext): HostOperations {
  const { store, accessBook, agents, managed } = context;
  const { hosts, managedMiners } = store;
  const present = ({ id, description, hostname, uid, groupId }: Stored<StoredHost>): Host => ({
    id,
    description,
    hostname,
    uid,
    groupId,
    agent: agents.present(id),
  });
  const minersOn = (id: number) => enabled(managedMiners).filter(({ hostId }) => hostId === id);
  return {
    listHosts: async (_input, caller) => {
      const { seesGroup } = accessBook.of(caller);
      return enabled(hosts)
        .filter(({ groupId }) => seesGroup(groupId))
        .map(present);
    },
    getHost: async ({ id }, caller) => present(visibleHost(context, id, caller)),
    saveHost: async ({ id, groupId: group, ...body }, caller) => {
      const existing = id === 0 ? undefined : findOwn(hosts, id, "host");
      const groupId =
        group === undefined ? undefined : groupIdOf(group, store.groups, accessBook.of(caller), "groupId");
      const { description, hostname, uid, ...rest } = { ...emptyHost, ...existing, ...given({ ...body, groupId }) };
      if (hostname === "") throw invalid("hostname", detail("input.required"));
      const fields = { description, hostname, groupId: rest.groupId };
      const saved =
        existing === undefined
          ? await hosts.add({ ...fields, uid: uidFor(hostname, hosts), gpus: null })
          : await hosts.change(id, fields);
      for (const miner of minersOn(saved.id)) managed.put(miner);
      managed.hostsChanged();
      return present(saved);
    },
    deleteHost: async ({ id }) => {
      const host = findOwn(hosts, id, "host");
      refuseInUse(
        `Host ${id}`,
        minersOn(id).map((miner) => `managed miner ${miner.id}`),
      );
      await agents.forget(id);
      await hosts.remove(id);
      managed.hostsChanged();
      return done(`Host ${host.hostname} removed`);
    },
    getHostSystemInfo: async ({ id }, caller) => {
      const { hostname } = visibleHost(context, id, caller);
      const known = agents.gpusOf(id);
      if (!agents.hasAgent(id)) throw noAgent(hostname);
      if (known === null) throw neverConnected(hostname);
      return {
        gpuStatusList: [...known.list],
        at: new Date(known.at).toISOString(),
        stale: agents.session(id) === undefined,
      };
    },
    listAgents: async () => agents.list(),
    addAgent: async ({ hostId }) => {
      if (hosts.get(hostId)?.disabled !== false)
        throw invalid("hostId", detail("input.noThing", { thing: thing("host"), id: hostId }));
      // The service's own machine needs no token, and no other agent may connect as it.
      findOwn(hosts, hostId, "host");
      return agents.add(hostId);
    },
    deleteAgent: async ({ id }) => {
      const hostId = await agents.remove(id);
      return done(`The token of the host ${hosts.get(hostId)?.hostname ?? hostId} is revoked`);
    },
  };
}
