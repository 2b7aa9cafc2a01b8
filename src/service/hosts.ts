import { miningSoftware } from "../catalogue/mining-software.ts";
import { invalid, notYet, RigbridgeError } from "../contract/problems.ts";
import type { Host, ManagedMiner } from "../contract/resources.ts";
import type { MiningService } from "../contract/service.ts";
import type { Store, Stored, StoredHost, StoredManagedMiner } from "../store/index.ts";
import { done } from "./replies.ts";
import { find, findOwn, given, present, refuseInUse } from "./stored.ts";

type HostOperations = Pick<
  MiningService,
  | "listHosts"
  | "getHost"
  | "saveHost"
  | "deleteHost"
  | "getHostSystemInfo"
  | "listManagedMiners"
  | "getManagedMiner"
  | "saveManagedMiner"
  | "deleteManagedMiner"
  | "listMiningSoftware"
>;

const shownHost = ({ id, description, hostname }: Stored<StoredHost>): Host => ({ id, description, hostname });

const shownMiner = ({ owner, key, disabled, ...miner }: Stored<StoredManagedMiner>): ManagedMiner => miner;

const emptyMiner: StoredManagedMiner = {
  description: "",
  hostId: 0,
  isPoolGroup: false,
  poolId: 0,
  commandLineParams: "",
  softwareAutoDownload: true,
  softwareType: "",
  softwarePath: "",
  algorithm: "",
  dualAlgorithm: "",
};

/** Hosts and the mining software on them: kept here; running it comes with the agent. */
export function hostOperations({ hosts, managedMiners, pools, poolGroups }: Store): HostOperations {
  return {
    listHosts: async () => present(hosts).map(shownHost),
    getHost: async ({ id }) => shownHost(find(hosts, id, "host")),
    saveHost: async ({ id, ...body }) => {
      const known = id === 0 ? undefined : findOwn(hosts, id, "host");
      const { description, hostname } = { description: "", hostname: "", ...known, ...given(body) };
      if (hostname === "") throw invalid("hostname", "is required");
      const host = { description, hostname };
      return shownHost(known === undefined ? await hosts.add(host) : await hosts.change(id, host));
    },
    deleteHost: async ({ id }) => {
      const host = findOwn(hosts, id, "host");
      const users = present(managedMiners).filter(({ hostId }) => hostId === id);
      refuseInUse(
        `Host ${id}`,
        users.map((miner) => `managed miner ${miner.id}`),
      );
      await hosts.remove(id);
      return done(`Host ${host.hostname} removed`);
    },
    getHostSystemInfo: async ({ id }) => {
      find(hosts, id, "host");
      throw notYet("Reading the GPUs of a host");
    },
    listManagedMiners: async () => present(managedMiners).map(shownMiner),
    getManagedMiner: async ({ id }) => shownMiner(find(managedMiners, id, "managed miner")),
    saveManagedMiner: async ({ id, ...body }) => {
      const known = id === 0 ? undefined : findOwn(managedMiners, id, "managed miner");
      const fields = given(body);
      const miner = { ...emptyMiner, ...(known === undefined ? {} : stripped(known)), ...fields };
      const mistakes = [
        ...(hosts.get(miner.hostId)?.disabled === false
          ? []
          : [{ path: "hostId", message: miner.hostId === 0 ? "is required" : `there is no host ${miner.hostId}` }]),
        ...(miner.poolId === 0 || (miner.isPoolGroup ? poolGroups : pools).get(miner.poolId)?.disabled === false
          ? []
          : [{ path: "poolId", message: `there is no ${miner.isPoolGroup ? "pool group" : "pool"} ${miner.poolId}` }]),
        ...(miner.softwareType === "" || miningSoftware.some((each) => each.id === miner.softwareType)
          ? []
          : [{ path: "softwareType", message: `"${miner.softwareType}" is not among GET /api/miningsoftware` }]),
      ];
      if (mistakes.length > 0) {
        throw new RigbridgeError("input.invalid", "The managed miner refers to what is not there", {
          errors: mistakes,
        });
      }
      return shownMiner(known === undefined ? await managedMiners.add(miner) : await managedMiners.change(id, miner));
    },
    deleteManagedMiner: async ({ id }) => {
      findOwn(managedMiners, id, "managed miner");
      await managedMiners.remove(id);
      return done(`Managed miner ${id} removed`);
    },
    listMiningSoftware: async () => [...miningSoftware],
  };
}

const stripped = ({ id, owner, key, disabled, ...miner }: Stored<StoredManagedMiner>): StoredManagedMiner => miner;
