import type { PlugSettings } from "../../contract/plug-settings.ts";
import type { MinerSettings } from "../../contract/resources.ts";
import type { Stored, StoredMiner } from "../../store/index.ts";

/** Settings of a miner without any in the configuration or the API. */
export const noSettings = {
  driver: null,
  interval: null,
  offlineExpected: false,
  hasLogin: false,
  supply: null,
} as const;

/** The settings of a miner, without secrets. */
export function presentSettings(row: Stored<StoredMiner>): MinerSettings {
  const { owner, address, driver, interval, offlineExpected, username, password, token, supply } = row;
  return {
    declaredBy: owner === "file" ? "file" : "api",
    address,
    driver,
    interval,
    offlineExpected,
    hasLogin: username !== null || password !== null || token !== null,
    supply: supply === null ? null : withoutPassword(supply),
  };
}

function withoutPassword(supply: PlugSettings): MinerSettings["supply"] {
  if (supply.type === "mqtt") return supply;
  const { password: _, ...shown } = supply;
  return shown;
}
