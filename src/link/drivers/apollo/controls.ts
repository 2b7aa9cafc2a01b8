import { RigbridgeError } from "../../../contract/problems.ts";
import { isRecord } from "../../../contract/record.ts";
import { choice, type OfferedControl, toggle, trigger } from "../../controls.ts";
import type { PoolAction, PoolControls, PoolReading } from "../../driver.ts";
import { checkLogin } from "../../pool-login.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { lastPool, listedPool } from "../shared/listed-pool.ts";
import type { ApolloApi } from "./api.ts";
import { actions, statusQuery, wholePoolsQuery } from "./queries.ts";
import { isOn, modeOf, type Snapshot } from "./readings.ts";

/** Beside "custom", whose clock and voltage are set by hand. */
const modes = ["eco", "balanced", "turbo"];

const starting = { lasting: true, restartsMining: false, seconds: 90 };
const restarting = { lasting: false, restartsMining: true, seconds: 90 };

/**
 * What is stored takes effect with the next start of its mining program. Once stored, no failure may have it stored
 * again, nor let it pass for done.
 */
async function applied(api: ApolloApi, signal: AbortSignal): Promise<string> {
  try {
    const data = new TolerantReader(await api.query(statusQuery, signal), new Notes(), "");
    if (isOn({ miner: data.object("Miner") }) === false) return "stored";
    await api.run(actions.restart, undefined, signal);
    return "stored, and mining restarts";
  } catch (error) {
    if (!(error instanceof RigbridgeError)) throw error;
    const { message, unquoted } = error;
    const what = `${api.at}: stored, but a restart of mining is not confirmed, so restart it`;
    throw new RigbridgeError("rig.unconfirmed", `${what} (${message})`, { unquoted: `${what} (${unquoted})` });
  }
}

export function offers(api: ApolloApi, snapshot: Snapshot): OfferedControl[] {
  const on = isOn(snapshot);
  const mode = modeOf(snapshot);
  const run = async (name: "start" | "stop" | "restart" | "reboot", signal: AbortSignal): Promise<string> => {
    await api.run(actions[name], undefined, signal);
    return `Apollo accepted "${name}"`;
  };
  return [
    {
      control: toggle("mining", on, starting),
      set: (wanted, signal) => run(wanted === true ? "start" : "stop", signal),
    },
    ...(mode === null ? [] : [modeControl(api, mode)]),
    { control: trigger("restart", restarting), set: (_, signal) => run("restart", signal) },
    { control: trigger("reboot", { ...restarting, seconds: 240 }), set: (_, signal) => run("reboot", signal) },
  ];
}

const modeControl = (api: ApolloApi, mode: string): OfferedControl => ({
  control: choice("mode", modes, modes.includes(mode) ? mode : null, { ...restarting, lasting: true }),
  set: async (wanted, signal) => {
    await api.run(actions.settings, { minerMode: wanted }, signal);
    return applied(api, signal);
  },
});

export const poolActions: readonly PoolAction[] = ["add", "enable", "disable", "remove", "prioritize"];

/** `now`: the pools as listed now, which are read again afterwards. */
export function poolControls(
  api: ApolloApi,
  now: (signal: AbortSignal) => Promise<readonly PoolReading[]>,
): PoolControls {
  const setEnabled = async (wanted: PoolReading, enabled: boolean, signal: AbortSignal): Promise<string> => {
    const pools = await now(signal);
    await api.run(actions.updatePool, { id: listedPool(pools, wanted).index, enabled }, signal);
    return applied(api, signal);
  };
  return {
    add: async (login, signal) => {
      checkLogin(login);
      const { url, worker: username, password } = login;
      await now(signal);
      await api.run(actions.createPool, { enabled: true, url, username, password }, signal, [password]);
      return applied(api, signal);
    },
    enable: (pool, signal) => setEnabled(pool, true, signal),
    disable: (pool, signal) => setEnabled(pool, false, signal),
    remove: async (wanted, signal) => {
      const pools = await now(signal);
      const { index: id } = listedPool(pools, wanted);
      if (pools.length < 2) throw lastPool();
      await api.run(actions.deletePool, { id }, signal);
      return applied(api, signal);
    },
    prioritize: async (wanted, signal) => {
      const pools = await now(signal);
      const { priority } = listedPool(pools, wanted);
      const whole = await wholeList(api, signal);
      const first = whole.filter(({ index }) => index === priority);
      const others = whole.filter(({ index }) => index !== priority);
      if (first.length !== 1) throw unreadable(api);
      const secrets = whole.map(({ password }) => String(password));
      const list = [...first, ...others].map((pool, index) => ({ ...pool, index }));
      await api.run(actions.updatePools, { pools: list }, signal, secrets);
      return applied(api, signal);
    },
  };
}

type Whole = Readonly<Record<string, unknown>>;

const unreadable = (api: ApolloApi): RigbridgeError =>
  new RigbridgeError("rig.garbled", `${api.at}: its list of pools could not be read`);

/** Read strictly, since all of it is written back. */
async function wholeList(api: ApolloApi, signal: AbortSignal): Promise<Whole[]> {
  let listed = await api.query(wholePoolsQuery, signal);
  for (const key of ["Pool", "list", "result", "pools"]) listed = isRecord(listed) ? listed[key] : undefined;
  const pools = Array.isArray(listed) ? listed.filter(isRecord) : [];
  const isWhole = ({ url, index }: Whole): boolean => typeof url === "string" && typeof index === "number";
  if (!Array.isArray(listed) || pools.length !== listed.length || !pools.every(isWhole)) throw unreadable(api);
  return pools.toSorted((one, other) => Number(one.index) - Number(other.index));
}
