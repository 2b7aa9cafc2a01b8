/** What every client may read. */
export const minerQuery = `{ Miner {
  online { result { online { status } } }
  stats { result { stats {
    version versions { miner }
    master { boardsW intervals { int_30 { bySol } int_0 { interval bySol errors } } }
    pool { host port userName intervals { int_0 { sharesAccepted sharesRejected } } }
    fans { int_0 { rpm } }
    slots { int_0 { chips temperature } }
  } } }
} }`;

export const statusQuery = "{ Miner { online { result { online { status } } } } }";

/** What the owner may read; the passwords of pools are not asked for. */
export const ownerQuery = `{
  Mcu { stats { result { stats { hostname network { name mac } } } } }
  Settings { read { result { settings { minerMode } } } }
  Pool { list { result { pools { id enabled url username index } } } }
}`;

/** With all fields of a pool, since the list is written as a whole. */
export const wholePoolsQuery =
  "{ Pool { list { result { pools { index donation enabled url username password proxy } } } } }";

const plain = (section: string, name: string) => ({ name, text: `{ ${section} { ${name} { error { message } } } }` });
const withInput = (section: string, name: string, type: string) => ({
  name,
  text: `query ($input: ${type}!) { ${section} { ${name}(input: $input) { error { message } } } }`,
});

export const actions = {
  start: plain("Miner", "start"),
  stop: plain("Miner", "stop"),
  restart: plain("Miner", "restart"),
  reboot: plain("Mcu", "reboot"),
  settings: withInput("Settings", "update", "SettingsUpdateInput"),
  createPool: withInput("Pool", "create", "PoolCreateInput"),
  updatePool: withInput("Pool", "update", "PoolUpdateInput"),
  deletePool: withInput("Pool", "delete", "PoolDeleteInput"),
  updatePools: withInput("Pool", "updateAll", "PoolUpdateAllInput"),
} as const;
