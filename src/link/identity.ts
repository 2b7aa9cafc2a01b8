import type { Identity } from "../contract/readings.ts";

export const unknownIdentity: Identity = {
  make: null,
  model: null,
  firmware: null,
  mac: null,
  hostname: null,
  serial: null,
};

/** "Antminer S21 Hyd.", "S19 Pro+ Hyd", "S21 Imm.": cooled by water or oil, without fans. */
export const isLiquidCooled = (model: string | null): boolean => /\b(?:hyd|imm)/i.test(model ?? "");

/** A MAC address in upper-case colon form, from colons, dashes, dots or none; null when it is not one. */
export function normalMac(text: string | null): string | null {
  const digits = text?.replace(/[:.-]/g, "").toUpperCase() ?? "";
  if (!/^[0-9A-F]{12}$/.test(digits) || /^(?:0{12}|F{12})$/.test(digits)) return null;
  return digits.match(/../g)?.join(":") ?? null;
}
