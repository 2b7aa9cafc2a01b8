import type { Logger } from "pino";
import { type OwnTopics, refusedTopic } from "../../config/plug-topics.ts";
import type { Messages } from "../../contract/messages.ts";
import type { PlugSettings, Supply } from "../../contract/plug-settings.ts";
import { invalid, RigbridgeError } from "../../contract/problems.ts";
import { isNoRig, parseAddress, storedAddress } from "../../link/address.ts";
import { outletOf } from "../../link/plugs/outlet.ts";
import type { Detail } from "../../messages/coded-text.ts";
import { detail } from "../../messages/detail.ts";
import type { Store, Stored, StoredMiner } from "../../store/index.ts";
import { enabled } from "../crud.ts";
import type { Access } from "../users/access.ts";
import type { MinerFacts } from "./present-miner.ts";

/** The outlet of a PDU that names a miner by one of these names; null if none does. */
export type OutletNaming = (names: readonly (string | null)[]) => Supply | null;

/** The miner of each plug: a plug switches the power of one miner. */
export class PlugOwners {
  readonly #ownTopics: () => OwnTopics;
  readonly #outletNaming: OutletNaming;
  readonly #isShared: (name: string, id: number) => boolean;
  readonly #log: Logger;
  /** Miner by outlet id. */
  readonly #owners = new Map<string, number>();

  /** `isShared`: whether another miner than this one is declared with this name or uid. */
  constructor(
    ownTopics: () => OwnTopics,
    outletNaming: OutletNaming,
    isShared: (name: string, id: number) => boolean,
    log: Logger,
  ) {
    this.#ownTopics = ownTopics;
    this.#outletNaming = outletNaming;
    this.#isShared = isShared;
    this.#log = log;
  }

  /** If two rows name one plug, as older versions allowed, the row of the file keeps it, otherwise the first one. */
  assignAll(miners: readonly Stored<StoredMiner>[]): void {
    for (const owner of ["file", "store"] as const)
      for (const miner of miners) if (miner.owner === owner) this.#assign(miner);
  }

  /**
   * The plug, as far as the miner may use it; rows of older versions may be invalid. Without one, the outlet of a PDU that
   * names the miner. `knownUid`: the last uid that its rig has reported.
   */
  supplyOf({ id, name, address, owner, uid, supply }: Stored<StoredMiner>, knownUid: string | null): Supply | null {
    const named = this.#outletNaming([knownUid, uid, name]);
    const miner = `${id} (${name ?? address})`;
    if (supply === null) {
      // Names and declared uids are free text: of two miners with the same one, the outlet may supply either.
      const isReported = this.#outletNaming([knownUid]) !== null;
      const shared = named === null || isReported ? undefined : this.#sharedName([uid, name], id);
      if (shared === undefined) return this.#outletFor(id, miner, named);
      this.#log.warn(`Miner ${miner} has no plug: an outlet names ${shared}, and so is another miner called`);
      return null;
    }
    if (named !== null)
      this.#log.warn(`Miner ${miner} is not switched by ${outletOf(named).name}: it has a plug of its own`);
    const outlet = outletOf(supply);
    const holder = this.#owners.get(outlet.id);
    if (holder !== undefined && holder !== id) {
      this.#log.warn(`Miner ${miner} has no plug: ${outlet.name} belongs to miner ${holder}`);
      return null;
    }
    if (supply.type !== "mqtt" && isNoRig(storedAddress(supply.address))) {
      this.#log.warn(`Miner ${miner} has no plug: nothing is ever sent to ${supply.address}`);
      return null;
    }
    if (owner === "file" || supply.type !== "mqtt" || !supply.cutPower) return supply;
    const { set } = supply.topics;
    const why = refusedTopic(set, this.#ownTopics());
    if (why === null) return supply;
    const reason = `${set} ${why}`;
    this.#log.warn(`Miner ${miner} is not switched by its plug: ${reason}`);
    return { ...supply, cutPower: false };
  }

  take(supply: Supply | null, minerId: number): void {
    if (supply !== null) this.#owners.set(outletOf(supply).id, minerId);
  }

  /** The miner no longer has a plug. */
  release(minerId: number): void {
    for (const [outlet, owner] of this.#owners) if (owner === minerId) this.#owners.delete(outlet);
  }

  #sharedName(names: readonly (string | null)[], id: number): string | undefined {
    const shared = names.find((name) => this.#outletNaming([name]) !== null && this.#isShared(name ?? "", id));
    return shared ?? undefined;
  }

  /** The first of several miners that report the same uid has the outlet. */
  #outletFor(id: number, miner: string, named: Supply | null): Supply | null {
    const outlet = named === null ? null : outletOf(named);
    const holder = outlet === null ? undefined : this.#owners.get(outlet.id);
    if (outlet === null || holder === undefined || holder === id) return named;
    this.#log.warn(`Miner ${miner} has no plug: ${outlet.name} belongs to miner ${holder}`);
    return null;
  }

  #assign({ id, supply }: Stored<StoredMiner>): void {
    const outlet = supply === null ? null : outletOf(supply).id;
    if (outlet !== null && !this.#owners.has(outlet)) this.#owners.set(outlet, id);
  }
}

export interface PlugContext {
  readonly store: Store;
  readonly registry: {
    visible(id: number, access: Access): { readonly facts: MinerFacts } | undefined;
    nameFor(id: number, access: Access): Detail;
  };
  /** Whether there is a broker for plugs that publish messages. */
  readonly messages: Pick<Messages, "isConfigured">;
  /** The topics that Rigbridge itself uses. */
  readonly ownTopics: () => OwnTopics;
  readonly outletNaming: OutletNaming;
}

/**
 * Checks a name or uid that is declared over the API: an outlet follows it, so a user with access to some groups must not
 * give a miner one that an outlet has. Throws `user.forbidden`.
 */
export function checkNames(
  { name = null, uid = null }: Partial<Pick<StoredMiner, "name" | "uid">>,
  { outletNaming }: Pick<PlugContext, "outletNaming">,
  { all }: Access,
): void {
  if (!all && outletNaming([name, uid]) !== null) throw new RigbridgeError("user.forbidden", detail("rights.outlet"));
}

/** Checks a plug that is declared over the API. Throws `input.invalid`. */
export function checkPlug(supply: PlugSettings, { messages, ownTopics }: PlugContext): void {
  if (supply.type === "mqtt") {
    if (!messages.isConfigured) throw invalid("supply.type", detail("input.needsMqtt"));
    const { set } = supply.topics;
    const why = refusedTopic(set, ownTopics());
    if (why !== null) throw invalid("supply.topics.set", `"${set}" ${why}`);
    return;
  }
  try {
    parseAddress(supply.address);
  } catch (error) {
    throw invalid("supply.address", error instanceof Error ? error.message : "is not an address");
  }
}

/**
 * Checks that this miner (null: a new one) may have the plug. Two miners may share a device with two outputs only if
 * the caller sees both: a user with access to some groups must not control a device that powers hidden miners. Throws
 * `address.known`, `user.forbidden`.
 */
export function checkOwner(
  supply: PlugSettings,
  id: number | null,
  { store, registry }: PlugContext,
  access: Access,
): void {
  const wanted = outletOf(supply);
  for (const other of enabled(store.miners)) {
    if (other.supply === null || other.id === id) continue;
    const outlet = outletOf(other.supply);
    if (outlet.id === wanted.id)
      throw new RigbridgeError(
        "address.known",
        detail("rig.plugKnown", { plug: wanted.name, miner: registry.nameFor(other.id, access) }),
      );
    if (outlet.device === wanted.device && registry.visible(other.id, access) === undefined)
      throw new RigbridgeError("user.forbidden", detail("rights.plug", { plug: wanted.name }));
  }
}
