/** A device with entity ids derived from its name. */
export interface NamedDevice {
  readonly id: string;
  readonly kind: "miner" | "group" | "farm" | "facility" | "site";
  /** The uid of a miner or site, the id of a group or the key of a facility device, to distinguish devices of one name. */
  readonly key: string;
  readonly name: string;
}

/**
 * The first part of the ids of a device's entities, by the device's id: `garage` of `sensor.garage_power`. Of several
 * devices with the same name the first keeps it, and the others add their key. A name in another script is replaced by
 * the key, since Home Assistant transcribes it with large tables.
 */
export function objectIdsOf(devices: readonly NamedDevice[]): ReadonlyMap<string, string> {
  const taken = new Set<string>();
  return new Map(
    devices.map(({ id, kind, key, name }) => {
      const named = slugOf(name);
      const objectId =
        named !== null && !taken.has(named)
          ? named
          : `${named ?? kind}_${key.toLowerCase().replace(/[^a-z0-9]+/g, "_")}`;
      taken.add(objectId);
      return [id, objectId];
    }),
  );
}

/** `sensor.garage_power_limit`; an entity without a name uses that of its device. */
export function entityIdOf(platform: string, objectId: string, name: unknown): string {
  if (typeof name !== "string") return `${platform}.${objectId}`;
  const slug = entitySlugs.get(name) ?? slugOf(name) ?? "entity";
  entitySlugs.set(name, slug);
  return `${platform}.${objectId}_${slug}`;
}

/** Cached, because all devices have the same few. */
const entitySlugs = new Map<string, string>();

/** A name as Home Assistant writes it in ids; null if nothing remains of it, or it has non-Latin letters. */
export function slugOf(name: string): string | null {
  const plain = name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[ßæœøđðþłħı]/g, (letter) => latin[letter] ?? letter)
    .replace(/[\p{M}’]|(?<=\d),(?=\d)/gu, "");
  if (/(?![a-z0-9])[\p{L}\p{N}]/u.test(plain)) return null;
  return plain.replace(/[^a-z0-9]+/g, "_").replace(/^_|_$/g, "") || null;
}

/** Letters that Unicode does not decompose. */
const latin: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  đ: "d",
  ð: "d",
  þ: "th",
  ł: "l",
  ħ: "h",
  ı: "i",
};
