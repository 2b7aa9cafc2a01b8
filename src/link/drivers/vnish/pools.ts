import { RigbridgeError } from "../../../contract/problems.ts";
import { isRecord } from "../../../contract/record.ts";
import type { PoolAction, PoolControls, PoolLogin, PoolReading } from "../../driver.ts";
import { checkLogin } from "../../pool-login.ts";
import { lastPool, listedEntry, refuseFee } from "../shared/listed-pool.ts";
import { minerSettings, type Section, store } from "./settings.ts";
import type { VnishWeb } from "./web.ts";

export const poolActions: readonly PoolAction[] = ["add", "switch", "remove", "prioritize"];

/**
 * VNish takes only the whole list of pools, so it is read, changed and written with all its places and passwords; the
 * first place is preferred. A pool cannot be disabled: entries have no such field.
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
    /** Until mining restarts; the list does not change. */
    switch: async (pool, signal) => {
      refuseFee(pool);
      await web.post("mining/switch-pool", { pool_id: pool.index }, signal);
      return "VNish switches to this pool, until mining restarts";
    },
  };
}

/** A place of the list, with all its fields; empty ones have no URL. */
type Slot = Section & { readonly url: string; readonly user: string; readonly pass: string };

const empty: Slot = { url: "", user: "", pass: "" };

/** Throws `rig.read-only` where the rig hides the passwords, which would have to be written back. */
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
  const wanted = listedEntry(slots, pool, ({ url, user }) => ({ url, worker: user }));
  const left = slots.filter((slot) => slot !== wanted);
  if (!left.some(({ url }) => url !== "")) throw lastPool();
  return [...left, empty];
}

function first(slots: readonly Slot[], pool: PoolReading): Slot[] {
  const wanted = listedEntry(slots, pool, ({ url, user }) => ({ url, worker: user }));
  return [wanted, ...slots.filter((slot) => slot !== wanted)];
}
