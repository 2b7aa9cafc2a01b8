/** The unit in which the hash rate of an algorithm is measured, by its display name. */
export function hashUnit(algorithm: string | null | undefined): "H/s" | "Sol/s" | "G/s" {
  const name = (algorithm ?? "").toLowerCase();
  if (/equihash|zhash|beamhash|verushash-?sol/.test(name)) return "Sol/s";
  return /cuck(oo|aroo|atoo)/.test(name) ? "G/s" : "H/s";
}
