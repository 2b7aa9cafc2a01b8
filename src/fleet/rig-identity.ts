import { RigbridgeError } from "../contract/problems.ts";
import type { Identity } from "../contract/readings.ts";
import { detail } from "../messages/detail.ts";

interface IdentityDoubts {
  /** The address, for messages. */
  readonly at: string;
  /** The read must confirm the identity. */
  readonly isDoubted: boolean;
  /** The read belongs to a command. */
  readonly isCommanded: boolean;
}

/**
 * DHCP may have given the address to another device: the data of one rig is never shown for another. Throws
 * `rig.other`, or `rig.garbled` if it is doubtful which rig answered.
 */
export function checkIdentity(known: Identity, read: Identity, { at, isDoubted, isCommanded }: IdentityDoubts): void {
  if (differ(known.mac, read.mac) || differ(known.serial, read.serial))
    throw new RigbridgeError(
      "rig.other",
      detail("link.otherRig", { at, read: read.mac ?? String(read.serial), known: known.mac ?? String(known.serial) }),
    );
  if (isDoubted && isNamed(known) && !isSameName(known, read))
    throw new RigbridgeError("rig.garbled", detail("link.nameless", { at }));
  // Only for a command: such a rig may be renamed or get other firmware, which other reads accept.
  const trait = isCommanded && !isNamed(known) ? traits.find((each) => differ(known[each], read[each])) : undefined;
  if (trait !== undefined)
    throw new RigbridgeError(
      "rig.other",
      detail("link.otherTrait", { at, trait, read: String(read[trait]), known: String(known[trait]) }),
    );
}

const differ = (known: string | null, read: string | null): boolean =>
  known !== null && read !== null && known !== read;

/** A serial and a MAC do not contradict each other, but do not confirm each other either. */
const isSameName = (known: Identity, read: Identity): boolean =>
  (known.mac !== null && known.mac === read.mac) || (known.serial !== null && known.serial === read.serial);

/** Traits that distinguish rigs without MAC and serial. */
const traits = ["hostname", "make", "model"] as const;

const isNamed = ({ mac, serial }: Identity): boolean => mac !== null || serial !== null;
