import type { Identity } from "../contract/readings.ts";

/** A rig's name for ever: its MAC, else its serial, else what the configuration says, else where it is. */
export function uidOf(identity: Identity, configured: string | null, host: string, port: number): string {
  const { mac, serial } = identity;
  const named = mac?.toLowerCase().replaceAll(":", "") ?? (serial === null ? null : plain(serial));
  return named || configured || plain(`${host}-${port}`);
}

const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 64)
    .replace(/^-|-$/g, "");
