import type { Supply } from "../../contract/plug-settings.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import { parseAddress } from "../address.ts";
import { httpTransport } from "../transports/http.ts";
import { mqttPlug } from "./mqtt-plug.ts";
import type { NamedPlug, Plug, PlugContext } from "./plug.ts";
import { shelly } from "./shelly.ts";
import { tasmota } from "./tasmota.ts";

/** Opens no connection; an MQTT plug is subscribed to from now on. */
export function openPlug(settings: Supply, context: PlugContext): Plug {
  if (settings.type === "outlet") {
    if (context.outlets === undefined) throw new RigbridgeError("internal", "There are no PDUs here");
    return context.outlets(settings.device, settings.outlet);
  }
  if (settings.type === "mqtt") return mqttPlug(settings, context);
  const { host, port, tls } = parseAddress(settings.address);
  const http = httpTransport(host, port ?? (tls ? 443 : 80), tls);
  const login = { username: settings.username, password: settings.password };
  const open = settings.type === "shelly" ? shelly : tasmota;
  return samePlug(open(http, settings.channel, login));
}

/**
 * The first plug met at its address and no other: a router may give the address to another plug, which powers
 * something else. The MAC is read again right before each switch.
 */
function samePlug(plug: NamedPlug): Plug {
  /** undefined before the first read. */
  let known: string | null | undefined;
  return {
    read: async (signal) => {
      known ??= await plug.identity(signal);
      return plug.read(signal);
    },
    switch: async (on, signal) => {
      const now = await plug.identity(signal);
      known ??= now;
      if (known !== now) {
        const advice = 'if you replaced the plug, set the miner\'s "supply" again or restart the service';
        throw new RigbridgeError(
          "rig.other",
          `Another plug answers at ${plug.at}: ${now ?? "one that reports no MAC"} instead of ${known}; ${advice}`,
        );
      }
      await plug.switch(on, signal);
    },
    close: () => plug.close(),
  };
}
