import { RigbridgeError } from "../../contract/problems.ts";
import { normalMac } from "../identity.ts";
import type { Credentials } from "../link.ts";
import { Notes, TolerantReader } from "../tolerant-reader.ts";
import type { HttpTransport } from "../transports/http.ts";
import { garbled } from "../transports/limits.ts";
import { basicHeaders, type NamedPlug } from "./plug.ts";

/**
 * Plugs with Tasmota: commands over HTTP, the login as basic authentication (it also takes it in the query, where it
 * would end up in logs). Source: tasmota.github.io/docs/Commands.
 */
export function tasmota(
  http: HttpTransport,
  channel: number,
  { username = "admin", password }: Credentials,
): NamedPlug {
  const headers = basicHeaders(username, password);
  const command = async (words: string, signal: AbortSignal): Promise<TolerantReader> => {
    const { value } = await http.getJson(`/cm?cmnd=${encodeURIComponent(words)}`, signal, headers);
    const reply = new TolerantReader(value, new Notes(), "");
    // A refused login comes with status 200.
    const warning = reply.text("WARNING");
    if (warning !== null) throw new RigbridgeError("rig.login", `The plug ${http.at} refused the login: ${warning}`);
    return reply;
  };
  /** A plug with a single output calls it POWER, others number them from 1. */
  const stateIn = (reply: TolerantReader): boolean | null => {
    const numbered = `POWER${channel + 1}`;
    return reply.boolean(reply.has(numbered) || channel > 0 ? numbered : "POWER");
  };

  return {
    at: http.at,
    identity: async (signal) => normalMac((await command("Status 5", signal)).object("StatusNET").text("Mac")),
    read: async (signal) => {
      const status = await command("Status 0", signal);
      const on = stateIn(status.object("StatusSTS"));
      if (on === null) throw garbled(http.at, `the plug does not report whether output ${channel} is on`);
      const energy = status.object("StatusSNS").object("ENERGY");
      return {
        on,
        power: each(energy, "Power", channel),
        energy: energy.isList("Total") ? null : energy.number("Total", { times: 1000 }),
      };
    },
    switch: async (on, signal) => {
      const state = stateIn(await command(`Power${channel + 1} ${on ? "On" : "Off"}`, signal));
      if (state !== on)
        throw new RigbridgeError("rig.refused", `The plug ${http.at} did not switch ${on ? "on" : "off"}`);
    },
    close: () => http.close(),
  };
}

/** The output's own figure where each output is measured. */
const each = (energy: TolerantReader, key: string, channel: number): number | null =>
  energy.isList(key) ? (energy.numbers(key)[channel] ?? null) : energy.number(key);
