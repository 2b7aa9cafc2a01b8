import { RigbridgeError } from "../../../contract/problems.ts";
import type { PoolAction, PoolControls, PoolLogin, PoolReading } from "../../driver.ts";
import { checkLogin } from "../../pool-login.ts";
import { isRecord } from "../../tolerant-reader.ts";
import { minerSettings, type Section, store } from "./settings.ts";
import type { VnishWeb } from "./web.ts";

export const poolActions: readonly PoolAction[] = ["add", "switch", "remove", "prioritize"];

/**
 * VNish takes its list of pools only as a whole, so it is read, changed and written with all its places, passwords
 * included; the first place is the one preferred. A pool cannot be disabled: its entries have no such mark.
 */
export function poolControls(web: VnishWeb): PoolControls {
  const change = async (edit: (slots: readonly Slot[]) => Slot[], signal: AbortSignal): Promise<string> => {
    const slots = slotsOf(web, await minerSettings(web, signal));
    const changed = edit(slots);
    const secrets = changed.map(({ pass }) => pass);
    return store(web, { pools: changed }, "restart", signal, secrets);
  };
  return {
    add: async (login, signal) => {
      checkLogin(login);
      return change((slots) => added(slots, login), signal);
    },
    remove: (pool, signal) => change((slots) => removed(slots, pool), signal),
    prioritize: (pool, signal) => change((slots) => first(slots, pool), signal),
    /** Until mining restarts; the list stays as it is. */
    switch: async (pool, signal) => {
      refuseFee(pool);
      await web.post("mining/switch-pool", { pool_id: pool.index }, signal);
      return "VNish switches to this pool, until mining restarts";
    },
  };
}

/** A place of the list; empty ones have no URL. Whatever else it holds stays with it. */
type Slot = Section & { readonly url: string; readonly user: string; readonly pass: string };

const empty: Slot = { url: "", user: "", pass: "" };

/** Throws `rig.read-only` where the rig does not show the passwords that would have to be written back. */
function slotsOf(web: VnishWeb, { pools }: Section): Slot[] {
  if (!Array.isArray(pools)) throw new RigbridgeError("rig.garbled", `${web.at}: its settings have no list of pools`);
  return pools.map((entry: unknown): Slot => {
    const { url, user, pass } = isRecord(entry) ? entry : {};
    if (typeof url !== "string" || typeof user !== "string") {
      throw new RigbridgeError("rig.garbled", `${web.at}: its list of pools could not be read`);
    }
    if (url !== "" && (typeof pass !== "string" || /^\*+$/.test(pass))) {
      throw new RigbridgeError(
        "rig.read-only",
        `${web.at} hides the passwords of its pools, so its list is not changed`,
      );
    }
    return { ...(isRecord(entry) ? entry : {}), url, user, pass: typeof pass === "string" ? pass : "" };
  });
}

function added(slots: readonly Slot[], { url, worker, password }: PoolLogin): Slot[] {
  const place = slots.findIndex((slot) => slot.url === "");
  const fresh = { ...empty, url, user: worker, pass: password };
  return place === -1 ? [...slots, fresh] : slots.map((slot, index) => (index === place ? fresh : slot));
}

function removed(slots: readonly Slot[], pool: PoolReading): Slot[] {
  const wanted = found(slots, pool);
  const left = slots.filter((slot) => slot !== wanted);
  if (!left.some(({ url }) => url !== "")) throw new RigbridgeError("pool.last", "The last pool cannot be removed");
  return [...left, empty];
}

function first(slots: readonly Slot[], pool: PoolReading): Slot[] {
  const wanted = found(slots, pool);
  return [wanted, ...slots.filter((slot) => slot !== wanted)];
}

/** By its place, or where it has moved to. */
function found(slots: readonly Slot[], wanted: PoolReading): Slot {
  refuseFee(wanted);
  const same = slots.filter(({ url, user }) => bare(url) === bare(wanted.url) && user === wanted.worker);
  const inPlace = slots[wanted.index];
  const slot = same.find((each) => each === inPlace) ?? (same.length === 1 ? same[0] : undefined);
  if (slot === undefined) throw new RigbridgeError("not.possible", `The rig no longer lists the pool ${wanted.url}`);
  return slot;
}

function refuseFee({ devFee, url }: PoolReading): void {
  if (devFee) throw new RigbridgeError("not.possible", `${url} belongs to the maker of the firmware`);
}

const bare = (url: string): string => url.replace(/^[a-z0-9+]+:\/\//i, "").replace(/\/$/, "");
