import { type PacketRules, PacketWatch } from "./packet-watch.ts";

/**
 * Joins received bytes into whole packets. The parser of aedes would keep the pieces of a large packet and then copy
 * them, so that a flood of such packets creates garbage faster than it is collected.
 */
export class WholePackets {
  readonly #watch: PacketWatch;
  /** An incomplete packet, and the number of its bytes received so far. */
  #packet: Buffer | null = null;
  #filled = 0;

  constructor(rules: PacketRules) {
    this.#watch = new PacketWatch(rules);
  }

  /**
   * The packets completed by these bytes; null if there are none. Frees the memory of the bytes if all of them are
   * copied. Throws if a packet breaks the rules.
   */
  take(bytes: Buffer): Buffer | null {
    const fault = this.#watch.inspect(bytes);
    if (fault !== null) throw new Error(`it sends ${fault}`);
    const begun = this.#packet;
    const used = begun === null ? 0 : bytes.copy(begun, this.#filled);
    this.#filled += used;
    if (begun !== null && this.#filled < begun.length) {
      free(bytes);
      return null;
    }
    const { missing, unfinishedAt } = this.#watch;
    const end = missing > 0 ? unfinishedAt : bytes.length;
    const whole = bytes.subarray(used, end);
    this.#packet = missing > 0 ? Buffer.allocUnsafeSlow(bytes.length - end + missing) : null;
    this.#filled = this.#packet === null ? 0 : bytes.copy(this.#packet, 0, end);
    if (begun === null && whole.length > 0) return whole;
    const packets = begun === null || whole.length === 0 ? begun : Buffer.concat([begun, whole]);
    free(bytes);
    if (begun !== null && packets !== begun) free(begun);
    return packets;
  }
}

/** At once instead of at the next collection; not what shares its memory with others. */
function free({ buffer, length }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0);
}
