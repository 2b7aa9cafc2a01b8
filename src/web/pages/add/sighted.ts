import type { Position } from "../../../contract/resources.ts";
import type { Sighting } from "../../../contract/sightings.ts";

/** Letters and digits alone: labels write MAC addresses in several ways. */
const plain = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, "");

/** Shorter ones are in too many codes by chance. */
const shortestKey = 6;

/** Whether a text may mean a rig: a part of its MAC address or serial number, or a code that contains one. */
export function isMeant({ identity }: Pick<Sighting, "identity">, text: string): boolean {
  const wanted = plain(text);
  return (
    wanted === "" ||
    [identity.mac, identity.serial].some((key) => {
      const known = plain(key ?? "");
      return known.includes(wanted) || (known.length >= shortestKey && wanted.includes(known));
    })
  );
}

/** The position to the right, or the first of the next row. */
export const nextPosition = ({ row, column }: Position, columns: number | undefined): Position =>
  columns !== undefined && column >= columns ? { row: row + 1, column: 1 } : { row, column: column + 1 };
