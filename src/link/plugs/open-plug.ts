import { RigbridgeError } from "../../contract/problems.ts";
import type { Plug } from "./plug.ts";

/** A plug that says which one it is. */
export interface NamedPlug extends Plug {
  /** host:port, for messages. */
  readonly at: string;
  /** Its MAC, asked now; null where it does not say. Throws as `read` does. */
  identity(signal: AbortSignal): Promise<string | null>;
}

/**
 * The plug that was met first at its address, and no other one: a router may give the address to another plug, with
 * something else behind it. Which one answers is asked right before each switch.
 */
export function samePlug(plug: NamedPlug): Plug {
  /** undefined until it was asked. */
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
        const advice = 'if you have replaced it, set the miner\'s "supply" again or restart the service';
        throw new RigbridgeError(
          "rig.other",
          `Another plug answers at ${plug.at}: ${now ?? "one that does not say its MAC"} instead of ${known}; ${advice}`,
        );
      }
      await plug.switch(on, signal);
    },
    close: () => plug.close(),
  };
}
