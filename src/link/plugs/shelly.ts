import { RigbridgeError } from "../../contract/problems.ts";
import { normalMac } from "../identity.ts";
import type { Credentials } from "../link.ts";
import { Notes, TolerantReader } from "../tolerant-reader.ts";
import { digestTransport } from "../transports/digest.ts";
import type { HttpTransport } from "../transports/http.ts";
import { garbled } from "../transports/limits.ts";
import { basicHeaders, type NamedPlug, type PlugState } from "./plug.ts";

/**
 * Shelly plugs and relays. Generation 1: /relay and /status, basic authentication, energy in watt-minutes; from
 * generation 2 on RPC over HTTP, digest authentication, energy in Wh. Source: shelly-api-docs.shelly.cloud.
 */
export function shelly(http: HttpTransport, channel: number, { username = "admin", password }: Credentials): NamedPlug {
  const basic = basicHeaders(username, password);
  const secure = password === undefined ? http : digestTransport(http, { username, password });
  /** Whether it is generation 1; null before the first request. */
  let isFirst: boolean | null = null;

  const get = async (path: string, signal: AbortSignal): Promise<TolerantReader> => {
    const reply = isFirst ? await http.getJson(path, signal, basic) : await secure.getJson(path, signal);
    return new TolerantReader(reply.value, new Notes(), "");
  };
  /** The page that every generation has, readable without a login. */
  const about = async (signal: AbortSignal): Promise<TolerantReader> =>
    new TolerantReader((await http.getJson("/shelly", signal)).value, new Notes(), "");
  const first = async (signal: AbortSignal): Promise<boolean> => {
    isFirst ??= !(await about(signal)).has("gen");
    return isFirst;
  };
  const switchNamed = async (on: boolean, signal: AbortSignal): Promise<boolean | null> => {
    const turn = on ? "on" : "off";
    if (await first(signal)) return (await get(`/relay/${channel}?turn=${turn}`, signal)).boolean("ison");
    await get(`/rpc/Switch.Set?id=${channel}&on=${on}`, signal);
    return on;
  };

  return {
    at: http.at,
    identity: async (signal) => normalMac((await about(signal)).text("mac")),
    read: async (signal) => {
      if (await first(signal)) return firstState(http.at, await get("/status", signal), channel);
      return laterState(http.at, await get(`/rpc/Switch.GetStatus?id=${channel}`, signal));
    },
    switch: async (on, signal) => {
      if ((await switchNamed(on, signal)) !== on)
        throw new RigbridgeError("rig.refused", `The plug ${http.at} did not switch ${on ? "on" : "off"}`);
    },
    close: () => http.close(),
  };
}

const minutesPerHour = 60;

function firstState(at: string, status: TolerantReader, channel: number): PlugState {
  const on = status.list("relays")[channel]?.boolean("ison") ?? null;
  if (on === null) throw garbled(at, `the plug does not report whether output ${channel} is on`);
  const meter = status.list("meters")[channel];
  return {
    on,
    power: meter?.number("power") ?? null,
    energy: meter?.number("total", { times: 1 / minutesPerHour }) ?? null,
  };
}

function laterState(at: string, status: TolerantReader): PlugState {
  const on = status.boolean("output");
  if (on === null) throw garbled(at, "the plug does not report whether it is on");
  return { on, power: status.number("apower", { min: -100 }), energy: status.object("aenergy").number("total") };
}
