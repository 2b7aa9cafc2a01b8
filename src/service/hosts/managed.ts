import type { ProgramState } from "../../contract/agent.ts";
import { invalid, invalidAll, notFound, RigbridgeError } from "../../contract/problems.ts";
import type { DownloadReply, ManagedMiner } from "../../contract/resources.ts";
import type { Caller, Input, MiningService } from "../../contract/service.ts";
import { detail } from "../../messages/detail.ts";
import type { Stored, StoredManagedMiner } from "../../store/index.ts";
import { done, enabled, find, findOwn, given } from "../crud.ts";
import { isDemo } from "../miners/declared-miner.ts";
import { groupIdOf } from "../miners/groups.ts";
import type { MinerRegistry } from "../miners/miner-registry.ts";
import type { MinerContext } from "../miners/miners.ts";
import type { Coins } from "../money/coins.ts";
import type { HostContext } from "./hosts.ts";
import { choiceMistakes, mistakesIn } from "./managed-checks.ts";
import { lackOfCards, softwareList } from "./software.ts";
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

/** A managed miner without any settings. */
export const emptyManagedMiner: StoredManagedMiner = {
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
  /** Parameters may contain secrets of pools that are hidden from the caller. */
  const presentFor = (miner: Stored<StoredManagedMiner>, caller: Caller): ManagedMiner =>
    accessBook.of(caller).all ? present(miner) : { ...present(miner), commandLineParams: "" };
  const present = (
    stored: Stored<StoredManagedMiner>,
    state: ProgramState | null = managed.stateOf(stored) ?? null,
  ): ManagedMiner => {
    const { owner, key, disabled, switchedAt, ...miner } = stored;
    const host = hosts.get(miner.hostId);
    return {
      ...miner,
      groupId: groupOf(stored),
      uid: host?.uid ? minerUid(host.uid, miner.id) : null,
      status: state?.status ?? null,
      note: lackOf(stored) ?? state?.message ?? absence(stored) ?? withoutCard(stored, state),
    };
  };
  /** As it would be saved; a new one has no id yet. What its program does now, with other settings, says nothing of it. */
  const planned = (row: Stored<StoredManagedMiner>): ManagedMiner =>
    row.id === notStored
      ? { ...present(row, null), id: 0, uid: null }
      : { ...present(row, null), status: managed.stateOf(row)?.status ?? null };
  /** Which downloads there are for a host is known only once its agent has said what system it is. */
  const lackOf = (miner: Stored<StoredManagedMiner>): string | null => {
    const program = managed.programOf(miner);
    if (!("message" in program)) return null;
    return program.code === "no.download" && agents.session(miner.hostId) === undefined ? null : program.message;
  };
  const absence = ({ hostId }: StoredManagedMiner): string | null => {
    if (agents.session(hostId) !== undefined) return null;
    return agents.hasAgent(hostId) ? "The agent of its host is not connected" : "Its host has no agent";
  };
  const withoutCard = (miner: StoredManagedMiner, state: ProgramState | null): string | null => {
    const software = managed.softwareOf(miner);
    const host = agents.session(miner.hostId)?.host ?? null;
    return state?.status === "running" || software === undefined || host === null ? null : lackOfCards(software, host);
  };
  const findFor = (id: number, caller: Caller): Stored<StoredManagedMiner> => {
    const miner = find(managedMiners, id, "managed miner");
    if (!accessBook.of(caller).seesGroup(groupOf(miner))) throw notFound("managed miner", id);
    return miner;
  };
  const connected = ({ hostId }: StoredManagedMiner) =>
    agents.required(hostId, hosts.get(hostId)?.hostname ?? String(hostId));
  /** The command line for its host. Throws if the host would refuse it. */
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
    saveManagedMiner: async ({ id, dryRun = false, groupId: group, ...body }, caller) => {
      const existing = id === 0 ? undefined : findOwn(managedMiners, id, "managed miner");
      const groupId =
        group === undefined || group === null
          ? group
          : groupIdOf(group, store.groups, accessBook.of(caller), "groupId");
      const { idle, switching, ...fields } = body;
      const before = existing === undefined ? emptyManagedMiner : stripped(existing);
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
      const row = { owner: "store", key: null, disabled: false, id: existing?.id ?? notStored, ...miner } as const;
      await checkOnHost(row, commandOf, context);
      if (dryRun) return planned(row);
      const saved = existing === undefined ? await managedMiners.add(miner) : await managedMiners.change(id, miner);
      if (isDemo(saved.id)) managed.put(saved);
      else await addReal(() => managed.put(saved));
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

/** Whether a body chooses a different pool. */
const choosesPool = (
  { poolId, isPoolGroup }: Partial<Input<"saveManagedMiner">>,
  before: StoredManagedMiner,
): boolean =>
  (poolId !== undefined && poolId !== before.poolId) ||
  (isPoolGroup !== undefined && isPoolGroup !== before.isPoolGroup);

/** The agent refuses, for example, a path that is not an executable. If the agent is away, it does so at the start. */
async function checkOnHost(
  row: Stored<StoredManagedMiner>,
  commandOf: (miner: Stored<StoredManagedMiner>) => Promise<unknown>,
  { agents, managed }: ManagedContext,
): Promise<void> {
  if (agents.session(row.hostId) === undefined || "message" in managed.programOf(row)) return;
  try {
    await commandOf(row);
  } catch (error) {
    if (!(error instanceof RigbridgeError) || error.code !== "rig.refused") throw error;
    throw new RigbridgeError("input.invalid", detail("host.refuses", { why: error.message }));
  }
}

/** The id of a miner that is not stored yet. */
const notStored = 9_999_999_999;

const stripped = ({ id, owner, key, disabled, ...miner }: Stored<StoredManagedMiner>): StoredManagedMiner => miner;
