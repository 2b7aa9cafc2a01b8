import { miningSoftware } from "../../catalogue/mining-software.ts";
import { invalid, notFound, notRunYet, notYet, RigbridgeError } from "../../contract/problems.ts";
import type { Host, ManagedMiner } from "../../contract/resources.ts";
import type { Caller, MiningService } from "../../contract/service.ts";
import type { Collection, Store, Stored, StoredHost, StoredManagedMiner } from "../../store/index.ts";
import { done, enabled, find, findOwn, given, refuseInUse } from "../crud.ts";
import type { Coins } from "../money/coins.ts";
import type { AccessBook } from "../users/access.ts";

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

const presentHost = ({ id, description, hostname }: Stored<StoredHost>): Host => ({ id, description, hostname });

const presentManagedMiner = ({ owner, key, disabled, ...miner }: Stored<StoredManagedMiner>): ManagedMiner => ({
  ...miner,
  note: notRunYet,
});

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

/**
 * Hosts and the mining software on them, which is stored but not run. They are in no group, so only callers with access
 * to everything see them.
 */
export function hostOperations(store: Store, coins: Coins, accessBook: AccessBook): HostOperations {
  const { hosts, managedMiners, pools, poolGroups } = store;
  const listFor = <T>(rows: Collection<T>, caller: Caller): Stored<T>[] =>
    accessBook.of(caller).all ? enabled(rows) : [];
  const findFor = <T>(rows: Collection<T>, id: number, what: string, caller: Caller): Stored<T> => {
    if (!accessBook.of(caller).all) throw notFound(what, id);
    return find(rows, id, what);
  };
  return {
    listHosts: async (_input, caller) => listFor(hosts, caller).map(presentHost),
    getHost: async ({ id }, caller) => presentHost(findFor(hosts, id, "host", caller)),
    saveHost: async ({ id, ...body }) => {
      const existing = id === 0 ? undefined : findOwn(hosts, id, "host");
      const { description, hostname } = { description: "", hostname: "", ...existing, ...given(body) };
      if (hostname === "") throw invalid("hostname", "is required");
      const host = { description, hostname };
      return presentHost(existing === undefined ? await hosts.add(host) : await hosts.change(id, host));
    },
    deleteHost: async ({ id }) => {
      const host = findOwn(hosts, id, "host");
      const users = enabled(managedMiners).filter(({ hostId }) => hostId === id);
      refuseInUse(
        `Host ${id}`,
        users.map((miner) => `managed miner ${miner.id}`),
      );
      await hosts.remove(id);
      return done(`Host ${host.hostname} removed`);
    },
    getHostSystemInfo: async ({ id }, caller) => {
      findFor(hosts, id, "host", caller);
      throw notYet("Reading the GPUs of a host");
    },
    listManagedMiners: async (_input, caller) => listFor(managedMiners, caller).map(presentManagedMiner),
    getManagedMiner: async ({ id }, caller) => presentManagedMiner(findFor(managedMiners, id, "managed miner", caller)),
    saveManagedMiner: async ({ id, ...body }) => {
      const existing = id === 0 ? undefined : findOwn(managedMiners, id, "managed miner");
      const fields = given(body);
      const miner = { ...emptyMiner, ...(existing === undefined ? {} : stripped(existing)), ...fields };
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
      for (const path of ["algorithm", "dualAlgorithm"] as const) {
        const name = fields[path];
        if (name !== undefined && !isNone(name)) mistakes.push(...coins.algorithmMistakes(path, name));
      }
      if (mistakes.length > 0) {
        throw new RigbridgeError("input.invalid", "The managed miner has invalid references", {
          errors: mistakes,
        });
      }
      return presentManagedMiner(
        existing === undefined ? await managedMiners.add(miner) : await managedMiners.change(id, miner),
      );
    },
    deleteManagedMiner: async ({ id }) => {
      findOwn(managedMiners, id, "managed miner");
      await managedMiners.remove(id);
      return done(`Managed miner ${id} removed`);
    },
    listMiningSoftware: async () => [...miningSoftware],
  };
}

/** What clients send for no algorithm. */
const isNone = (name: string): boolean => name === "" || name === "Unspecified";

const stripped = ({ id, owner, key, disabled, ...miner }: Stored<StoredManagedMiner>): StoredManagedMiner => miner;
