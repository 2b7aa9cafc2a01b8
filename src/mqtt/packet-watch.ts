/** Bytes of the length of a packet (MQTT 5, 1.5.5). */
const lengthBytes = 4;
/** PUBLISH with QoS 2: the packet's type and the bits of its QoS. */
const typeAndQos = 0xf6;
const publishQos2 = 0x34;

/**
 * Follows the packets from a broker by the lengths in their headers, to detect one that is too large before it has
 * arrived: the parser of mqtt.js buffers a packet until it is complete, up to 256 MB.
 */
export class PacketWatch {
  readonly #largest: number;
  /** Bytes of the current packet that have yet to arrive; -1 while its header is read. */
  #remaining = -1;
  /** Bytes of the header read so far, and the length read so far. */
  #head = 0;
  #length = 0;

  /** `largest`: bytes of a packet, header included. */
  constructor(largest: number) {
    this.#largest = largest;
  }

  /** What is wrong with the next bytes, to complete "The broker sends ..."; null if nothing is. */
  inspect(bytes: Uint8Array): string | null {
    for (let at = 0; at < bytes.length; ) {
      if (this.#remaining > 0) {
        const passed = Math.min(this.#remaining, bytes.length - at);
        this.#remaining -= passed;
        at += passed;
      } else {
        const fault = this.#readHead(bytes[at] ?? 0);
        if (fault !== null) return fault;
        at += 1;
      }
      if (this.#remaining === 0) this.#begin();
    }
    return null;
  }

  #begin(): void {
    this.#remaining = -1;
    this.#head = 0;
    this.#length = 0;
  }

  #readHead(byte: number): string | null {
    this.#head += 1;
    if (this.#head === 1)
      return (byte & typeAndQos) === publishQos2 ? "a message with QoS 2, although at most QoS 1 was requested" : null;
    this.#length += (byte & 0x7f) * 128 ** (this.#head - 2);
    if (byte < 0x80) this.#remaining = this.#length;
    const isEndless = byte >= 0x80 && this.#head > lengthBytes;
    return isEndless || this.#head + this.#length > this.#largest
      ? `a packet of more than ${this.#largest} bytes`
      : null;
  }
}
