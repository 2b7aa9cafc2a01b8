import type { Messages } from "../../contract/messages.ts";
import type { PlugSettings } from "../../contract/plug-settings.ts";
import { parseAddress } from "../address.ts";
import { httpTransport } from "../transports/http.ts";
import { mqttPlug } from "./mqtt-plug.ts";
import { samePlug } from "./open-plug.ts";
import { shelly } from "./shelly.ts";
import { tasmota } from "./tasmota.ts";

/** What a plug says of itself. */
export interface PlugState {
  readonly on: boolean;
  /** W, measured; null for a plug that only switches. */
  readonly power: number | null;
  /** Wh since it counts; it may be set back. */
  readonly energy: number | null;
}

/** The plug that a rig draws its power through. Each call is one exchange. */
export interface Plug {
  /** Throws `rig.unreachable`, `rig.timeout`, `rig.garbled` or `rig.login`, naming the plug. */
  read(signal: AbortSignal): Promise<PlugState>;
  /** Throws likewise, `rig.refused` with the plug's words, and `rig.other` when another plug answers there now. */
  switch(on: boolean, signal: AbortSignal): Promise<void>;
  /** Cuts what is open. */
  close(): void;
}

export interface PlugContext {
  /** For plugs that speak by messages; null where there are none. */
  readonly messages: Messages | null;
  /** Epoch ms. */
  readonly now: () => number;
}

/** Opens no connection by itself; one that speaks by messages is listened to from now on. */
export function openPlug(supply: PlugSettings, context: PlugContext): Plug {
  if (supply.type === "mqtt") return mqttPlug(supply, context);
  const { host, port, tls } = parseAddress(supply.address);
  const http = httpTransport(host, port ?? (tls ? 443 : 80), tls);
  const login = { username: supply.username, password: supply.password };
  const open = supply.type === "shelly" ? shelly : tasmota;
  return samePlug(open(http, supply.channel, login));
}

/** Basic authentication (RFC 7617). */
export function basicHeaders(username: string, password: string | undefined): Readonly<Record<string, string>> {
  if (password === undefined) return {};
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` };
}
