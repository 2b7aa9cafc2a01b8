import { RigbridgeError } from "../../../contract/problems.ts";
import { isRecord } from "../../../contract/record.ts";
import type { PoolAction, PoolControls } from "../../driver.ts";
import { checkLogin } from "../../pool-login.ts";
import { lastPool, listedEntry } from "../shared/listed-pool.ts";
import type { EpicApi } from "./api.ts";

export const poolActions: readonly PoolAction[] = ["add", "remove", "prioritize"];

/** An entry as `/summary` lists it and `/coin` takes it. */
interface Entry {
  readonly pool: string;
  readonly login: string;
  readonly password: string;
}

const mostPools = 3;

/** The rig takes only the whole list, with its coin, so that is read, changed and written; the first is preferred. */
export function poolControls(api: EpicApi): PoolControls {
  const change = async (edit: (entries: readonly Entry[]) => Entry[], signal: AbortSignal): Promise<string> => {
    const { coin, entries, unique } = settingsOf(api.at, (await api.get("summary", signal)).value);
    const changed = edit(entries);
    const secrets = changed.map(({ password }) => password);
    await api.post("coin", { coin, stratum_configs: changed, unique_id: unique }, signal, secrets);
    return "ePIC stored its pools and restarts mining";
  };
  return {
    add: async (login, signal) => {
      checkLogin(login);
      return change((entries) => {
        if (entries.length >= mostPools)
          throw new RigbridgeError("not.possible", `ePIC holds ${mostPools} pools and all are set; remove one first`);
        return [...entries, { pool: login.url, login: login.worker, password: login.password }];
      }, signal);
    },
    remove: (pool, signal) =>
      change((entries) => {
        const wanted = listedEntry(entries, pool, placeOf);
        if (entries.length < 2) throw lastPool();
        return entries.filter((entry) => entry !== wanted);
      }, signal),
    prioritize: (pool, signal) =>
      change((entries) => {
        const wanted = listedEntry(entries, pool, placeOf);
        return [wanted, ...entries.filter((entry) => entry !== wanted)];
      }, signal),
  };
}

const placeOf = ({ pool, login }: Entry): { url: string; worker: string } => ({ url: pool, worker: login });

/** Read strictly, since all of it is written back. Throws `rig.garbled`, and `rig.read-only` for hidden passwords. */
function settingsOf(at: string, summary: unknown): { coin: string; entries: Entry[]; unique: boolean } {
  const fields = isRecord(summary) ? summary : {};
  const coin = isRecord(fields.Mining) ? fields.Mining.Coin : null;
  const unique = isRecord(fields.Stratum) ? fields.Stratum["Worker Unique Id"] : null;
  const listed = fields.StratumConfigs;
  if (typeof coin !== "string" || typeof unique !== "boolean" || !Array.isArray(listed))
    throw new RigbridgeError("rig.garbled", `${at}: its list of pools could not be read`);
  const entries = listed.map((entry: unknown): Entry => {
    const { pool, login, password } = isRecord(entry) ? entry : {};
    if (typeof pool !== "string" || typeof login !== "string")
      throw new RigbridgeError("rig.garbled", `${at}: its list of pools could not be read`);
    if (typeof password !== "string" || /^\*+$/.test(password))
      throw new RigbridgeError("rig.read-only", `${at} hides the passwords of its pools, so its list is not changed`);
    return { pool, login, password };
  });
  return { coin, entries, unique };
}
