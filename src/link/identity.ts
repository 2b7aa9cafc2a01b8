import type { Identity } from "../contract/readings.ts";

export const unknownIdentity: Identity = {
  make: null,
  model: null,
  firmware: null,
  mac: null,
  hostname: null,
  serial: null,
};

/** A MAC address in upper-case colon form, from colons, dashes, dots or none; null for what is none. */
export function normalMac(text: string | null): string | null {
  const digits = text?.replace(/[:.-]/g, "").toUpperCase() ?? "";
  if (!/^[0-9A-F]{12}$/.test(digits) || /^(?:0{12}|F{12})$/.test(digits)) return null;
  return digits.match(/../g)?.join(":") ?? null;
}
