import { rigLogin } from "../../config/rig-login.ts";
import type { Config } from "../../config/schema.ts";
import type { Identity } from "../../contract/readings.ts";
import type { Declared, ReadSettings } from "../../fleet/declared.ts";
import type { PolledRig } from "../../fleet/poller.ts";
import { hostAndPort, isNoRig, storedAddress } from "../../link/address.ts";
import { drivers } from "../../link/drivers/index.ts";
import type { PoolPassword } from "../../link/link.ts";
import type { DeclaredProgram } from "../../link/programs/host-program.ts";
import type { Stored, StoredMiner } from "../../store/index.ts";
import type { MinerFacts } from "./present-miner.ts";

/** A managed miner as a miner. Its address is the name of its host. */
export type ManagedRow = Stored<StoredMiner> & { readonly program: DeclaredProgram };
export type Row = Stored<StoredMiner> & { readonly program?: DeclaredProgram };

/** The ids of the demo are higher, far from those of the store. */
export const demoIdsAfter = 1_900_000_000;

/** Whether a miner, or anything else with an id, belongs to the demo. */
export const isDemo = (id: number): boolean => id > demoIdsAfter;

/** How a miner is read. */
export const readSettingsOf = (miner: Pick<Row, "interval">, poll: Config["poll"]): ReadSettings => ({
  interval: (miner.interval ?? poll.interval) * 1000,
  timeout: poll.timeout * 1000,
  modelNameplate: poll.nameplates,
  makersLogin: poll.makersLogins,
});

/** The declaration of a miner for the fleet, without its plug. */
export const declaredOf = (
  miner: Row,
  { poll, logins }: Pick<Config, "poll" | "logins">,
  poolPassword: PoolPassword,
): Omit<Declared, "supply"> => {
  const { program } = miner;
  const { makersLogin, ...settings } = readSettingsOf(miner, poll);
  const address =
    program === undefined ? storedAddress(miner.address) : { host: miner.address, port: null, tls: false };
  const declared = {
    id: miner.id,
    address,
    credentials: {
      ...rigLogin(miner, logins),
      makersLogin,
      poolPassword,
    },
    driver: miner.driver,
    uid: miner.uid,
    ...settings,
    powerNameplate: miner.powerNameplate,
    offlineExpected: miner.offlineExpected,
    disabled: miner.disabled || (program === undefined && isNoRig(address)),
  };
  return program === undefined ? declared : { ...declared, program };
};

/** Where the rig is read. */
export function descriptionOf({ declared: { address, driver, program }, state }: PolledRig): string {
  if (program !== undefined) return address.host;
  const port = address.port ?? drivers.find(({ id }) => id === (driver ?? state.driver))?.ports[0];
  return hostAndPort(address.host, port ?? (address.tls ? 443 : 80));
}

/** The name of a miner without a declared one. */
export const nameOf = (identity: Identity | null, description: string): string => identity?.hostname ?? description;

/** A miner of which only the address is declared. */
export const blankMiner: Omit<StoredMiner, "address"> = {
  name: null,
  uid: null,
  driver: null,
  groupId: 0,
  username: null,
  password: null,
  token: null,
  login: null,
  interval: null,
  location: null,
  placeId: null,
  position: null,
  slot: null,
  tags: [],
  offlineExpected: false,
  powerNameplate: null,
  supply: null,
  power: {},
};

/**
 * The log fields of a miner. Foreign text, such as a rig's name, goes into fields, where it cannot pass for a log line.
 */
export const minerFields = ({ id, name, host }: Pick<MinerFacts, "id" | "name" | "host">) => ({
  miner: id,
  name,
  address: host.description,
});
