import type { PlugSettings } from "../../contract/plug-settings.ts";
import type { MinerSettings } from "../../contract/resources.ts";
import type { Stored, StoredMiner } from "../../store/index.ts";

/** Settings of a miner without any in the configuration or the API. */
export const noSettings = {
  driver: null,
  interval: null,
  offlineExpected: false,
  hasLogin: false,
  login: null,
  powerNameplate: null,
  supply: null,
} as const;

/** The settings of a miner, without secrets. */
export function presentSettings(row: Stored<StoredMiner>): MinerSettings {
  const { owner, address, driver, interval, offlineExpected, login, powerNameplate, supply } = row;
  return {
    declaredBy: owner === "file" ? "file" : "api",
    address,
    driver,
    interval,
    offlineExpected,
    hasLogin: hasLogin(row),
    login: login === "" ? null : login,
    powerNameplate,
    supply: supply === null ? null : withoutPassword(supply),
  };
}

/** Whether a miner has a login of its own, or names one. */
export const hasLogin = ({
  username,
  password,
  token,
  login,
}: Pick<StoredMiner, "username" | "password" | "token" | "login">): boolean =>
  [username, password, token].some((part) => part !== null) || (login !== null && login !== "");

function withoutPassword(supply: PlugSettings): MinerSettings["supply"] {
  if (supply.type === "mqtt") return supply;
  const { password: _, ...shown } = supply;
  return shown;
}
