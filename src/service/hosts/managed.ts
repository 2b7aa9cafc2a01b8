import { invalid, invalidAll, notFound, RigbridgeError } from "../../contract/problems.ts";
import type { DownloadReply, ManagedMiner } from "../../contract/resources.ts";
import type { Caller, Input, MiningService } from "../../contract/service.ts";
import { detail } from "../../messages/detail.ts";
import type { Stored, StoredManagedMiner } from "../../store/index.ts";
import { done, enabled, find, findOwn, given } from "../crud.ts";
import { groupIdOf } from "../miners/groups.ts";
import type { MinerRegistry } from "../miners/miner-registry.ts";
import type { MinerContext } from "../miners/miners.ts";
import type { Coins } from "../money/coins.ts";
import type { HostContext } from "./hosts.ts";
import { choiceMistakes, mistakesIn } from "./managed-checks.ts";
import { softwareList } from "./software.ts";
import type { Switcher } from "./switcher.ts";
import { minerUid } from "./uids.ts";

type ManagedOperations = Pick<
  MiningService,
  | "listManagedMiners"
  | "getManagedMiner"
  | "saveManagedMiner"
  | "deleteManagedMiner"
  | "listMiningSoftware"
  | "getManagedMinerCommand"
  | "getManagedMinerDownload"
  | "confirmManagedMinerDownload"
  | "getManagedMinerSwitching"
>;

interface ManagedContext extends HostContext {
  readonly coins: Coins;
  readonly registry: MinerRegistry;
  readonly switcher: Pick<Switcher, "stateOf">;
  readonly addReal: MinerContext["addReal"];
}

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
  groupId: null,
  running: false,
  addedPools: [],
  gpuSettings: [],
  idle: null,
  switching: null,
  switchedAt: null,
};

/** ms for an agent to check a command line, or to confirm a download. */
const agentTimeoutMs = 10_000;

/** Managed miners: mining software on hosts. */
export function managedOperations(context: ManagedContext): ManagedOperations {
  const { store, accessBook, agents, managed, registry, switcher, addReal } = context;
  const { hosts, managedMiners } = store;
  const groupOf = ({ groupId, hostId }: StoredManagedMiner): number => groupId ?? hosts.get(hostId)?.groupId ?? 0;
  /** Parameters may contain secrets of pools that a caller does not see. */
  const presentFor = (miner: Stored<StoredManagedMiner>, caller: Caller): ManagedMiner =>
    accessBook.of(caller).all ? present(miner) : { ...present(miner), commandLineParams: "" };
  const present = (stored: Stored<StoredManagedMiner>): ManagedMiner => {
    const { owner, key, disabled, switchedAt, ...miner } = stored;
    const program = managed.programOf(stored);
    const state = managed.stateOf(stored);
    const host = hosts.get(miner.hostId);
    return {
      ...miner,
      groupId: groupOf(stored),
      uid: host?.uid ? minerUid(host.uid, miner.id) : null,
      status: state?.status ?? null,
      note: "message" in program ? program.message : (state?.message ?? absence(stored)),
    };
  };
  const absence = ({ hostId }: StoredManagedMiner): string | null => {
    if (agents.session(hostId) !== undefined) return null;
    return agents.hasAgent(hostId) ? "The agent of its host is not connected" : "Its host has no agent";
  };
  const findFor = (id: number, caller: Caller): Stored<StoredManagedMiner> => {
    const miner = find(managedMiners, id, "managed miner");
    if (!accessBook.of(caller).seesGroup(groupOf(miner))) throw notFound("managed miner", id);
    return miner;
  };
  const connected = ({ hostId }: StoredManagedMiner) =>
    agents.required(hostId, hosts.get(hostId)?.hostname ?? String(hostId));
  /** The command line that its host would run. Throws if the host would refuse it. */
  const commandOf = async (miner: Stored<StoredManagedMiner>): Promise<string[]> => {
    const program = managed.programOf(miner);
    if ("message" in program) throw new RigbridgeError(program.code, program.message);
    const request = { t: "command", program } as const;
    const { command = [] } = await connected(miner).request(request, AbortSignal.timeout(agentTimeoutMs));
    return command;
  };
  return {
    listManagedMiners: async (_input, caller) => {
      const { seesGroup } = accessBook.of(caller);
      return enabled(managedMiners)
        .filter((miner) => seesGroup(groupOf(miner)))
        .map((miner) => presentFor(miner, caller));
    },
    getManagedMiner: async ({ id }, caller) => presentFor(findFor(id, caller), caller),
    saveManagedMiner: async ({ id, groupId: group, ...body }, caller) => {
      const existing = id === 0 ? undefined : findOwn(managedMiners, id, "managed miner");
      const groupId =
        group === undefined || group === null
          ? group
          : groupIdOf(group, store.groups, accessBook.of(caller), "groupId");
      const { idle, switching, ...fields } = body;
      const before = existing === undefined ? emptyMiner : stripped(existing);
      const miner: StoredManagedMiner = {
        ...before,
        ...given(fields),
        ...(groupId === undefined ? {} : { groupId }),
        ...(idle === undefined ? {} : { idle }),
        ...(switching === undefined ? {} : { switching }),
        // Added failover pools belong to the previous pool.
        ...(choosesPool(body, before) ? { addedPools: [] } : {}),
      };
      const mistakes = [
        ...mistakesIn(miner, body, existing?.id, context),
        ...choiceMistakes(miner, existing?.id, context),
      ];
      if (mistakes.length > 0) throw invalidAll(mistakes);
      await checkOnHost(miner, existing, commandOf, context);
      const saved = existing === undefined ? await managedMiners.add(miner) : await managedMiners.change(id, miner);
      await addReal(() => managed.put(saved));
      if (existing !== undefined && existing.hostId !== saved.hostId) managed.sync(existing.hostId);
      return present(saved);
    },
    deleteManagedMiner: async ({ id }) => {
      const { hostId } = findOwn(managedMiners, id, "managed miner");
      await managedMiners.remove(id);
      managed.sync(hostId);
      if (registry.find(id) !== undefined) await registry.remove(id);
      return done(`Managed miner ${id} removed`);
    },
    getManagedMinerSwitching: async ({ id }, caller) => switcher.stateOf(findFor(id, caller).id),
    listMiningSoftware: async () => softwareList(agents.software()),
    getManagedMinerCommand: async ({ id }, caller) => ({ command: await commandOf(findFor(id, caller)) }),
    getManagedMinerDownload: async ({ id }, caller) => {
      const miner = findFor(id, caller);
      const program = managed.programOf(miner);
      if ("message" in program) throw new RigbridgeError(program.code, program.message);
      if (program.files.from !== "download") throw new RigbridgeError("nothing.to.do", detail("host.noDownload"));
      const state = managed.stateOf(miner);
      return {
        ...pinned(program.files),
        ...(state?.download ?? {}),
        state: stateOf(state?.status, program.files.sha256),
      };
    },
    confirmManagedMinerDownload: async ({ id, sha256 }, caller) => {
      const miner = findFor(id, caller);
      const session = connected(miner);
      const state = managed.stateOf(miner);
      const download = state?.status === "confirming" ? state.download : null;
      if (download === null || download === undefined)
        throw new RigbridgeError("nothing.to.do", detail("host.nothingToConfirm"));
      if (download.sha256 !== sha256) throw invalid("sha256", detail("input.sha256", { sum: download.sha256 }));
      const known = store.downloads.all().find(({ url }) => url === download.url);
      const row = { url: download.url, sha256 };
      if (known === undefined) await store.downloads.add(row);
      else await store.downloads.change(known.id, row);
      managed.syncAll();
      await session.request({ t: "confirm", id, sha256 }, AbortSignal.timeout(agentTimeoutMs));
      return done(`The download from ${download.url} is confirmed for every host`);
    },
  };
}

const pinned = ({ url, sha256 }: { url: string; sha256: string | null }): Omit<DownloadReply, "state"> => ({
  url,
  bytes: null,
  sha256,
});

function stateOf(status: string | undefined, sha256: string | null): DownloadReply["state"] {
  if (status === "downloading" || status === "confirming") return status;
  return sha256 === null ? "none" : "done";
}

/** Whether a body chooses another pool than the miner has. */
const choosesPool = (
  { poolId, isPoolGroup }: Partial<Input<"saveManagedMiner">>,
  before: StoredManagedMiner,
): boolean =>
  (poolId !== undefined && poolId !== before.poolId) ||
  (isPoolGroup !== undefined && isPoolGroup !== before.isPoolGroup);

/** The agent refuses, for example, a path that is not an executable. An agent that is away does so at the start. */
async function checkOnHost(
  miner: StoredManagedMiner,
  existing: Stored<StoredManagedMiner> | undefined,
  commandOf: (miner: Stored<StoredManagedMiner>) => Promise<unknown>,
  { agents, managed }: ManagedContext,
): Promise<void> {
  const row = { owner: "store", key: null, disabled: false, id: existing?.id ?? notStored, ...miner } as const;
  if (agents.session(miner.hostId) === undefined || "message" in managed.programOf(row)) return;
  try {
    await commandOf(row);
  } catch (error) {
    if (!(error instanceof RigbridgeError) || error.code !== "rig.refused") throw error;
    throw new RigbridgeError("input.invalid", detail("host.refuses", { why: error.message }));
  }
}

/** Of one that has no id yet. */
const notStored = 9_999_999_999;

const stripped = ({ id, owner, key, disabled, ...miner }: Stored<StoredManagedMiner>): StoredManagedMiner => miner;
