import { RigbridgeError } from "../../../contract/problems.ts";
import { isRecord } from "../../../contract/record.ts";
import type { PoolAction, PoolControls } from "../../driver.ts";
import { checkLogin } from "../../pool-login.ts";
import { lastPool, listedEntry } from "../shared/listed-pool.ts";
import type { GoldshellApi } from "./api.ts";

/** Their order is written in a form that no source describes in full, so it is not changed. */
export const poolActions: readonly PoolAction[] = ["add", "remove"];

/** A pool is removed by the whole entry of the rig's own list. */
export const poolControls = (api: GoldshellApi): PoolControls => ({
  add: async (login, signal) => {
    checkLogin(login);
    const { url, worker, password } = login;
    await api.put("newpool", { url, user: worker, pass: password }, signal, [password]);
    return "Goldshell added the pool";
  },
  remove: async (pool, signal) => {
    const entries = entriesOf(api.at, await api.get("pools", signal));
    const { raw, pass } = listedEntry(entries, pool, ({ url, user }) => ({ url, worker: user }));
    if (entries.length < 2) throw lastPool();
    await api.put("delpool", raw, signal, [pass]);
    return "Goldshell removed the pool";
  },
});

interface Entry {
  readonly url: string;
  readonly user: string;
  readonly pass: string;
  /** With all its fields, as the rig lists it. */
  readonly raw: unknown;
}

function entriesOf(at: string, value: unknown): Entry[] {
  if (!Array.isArray(value)) throw new RigbridgeError("rig.garbled", `${at}: its list of pools could not be read`);
  return value.map((raw: unknown) => {
    const { url, user, pass } = isRecord(raw) ? raw : {};
    if (typeof url !== "string" || typeof user !== "string")
      throw new RigbridgeError("rig.garbled", `${at}: its list of pools could not be read`);
    return { url, user, pass: typeof pass === "string" ? pass : "", raw };
  });
}
