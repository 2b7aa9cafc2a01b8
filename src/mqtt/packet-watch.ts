/** Bytes that the length of a packet may have (MQTT 5, 1.5.5). */
const lengthBytes = 4;
/** PUBLISH with QoS 2: the packet's type and the bits of its QoS. */
const typeAndQos = 0xf6;
const publishTwice = 0x34;

/**
 * Follows what a broker sends by the heads of its packets, which say how long they are, so that one that is too large is
 * known before it has come: the parser of mqtt.js keeps a packet until it is whole, and 256 MB are allowed to it.
 */
export class PacketWatch {
  readonly #largest: number;
  /** Bytes of the packet under way that have yet to come; -1 while its head is read. */
  #left = -1;
  /** Bytes of the head that have come, and the length as far as it has. */
  #head = 0;
  #length = 0;

  /** `largest`: bytes of a packet, with its head. */
  constructor(largest: number) {
    this.#largest = largest;
  }

  /** What is wrong with the next bytes, as the end of "The broker sends ..."; null where nothing is. */
  look(bytes: Uint8Array): string | null {
    for (let at = 0; at < bytes.length; ) {
      if (this.#left > 0) {
        const passed = Math.min(this.#left, bytes.length - at);
        this.#left -= passed;
        at += passed;
      } else {
        const fault = this.#readHead(bytes[at] ?? 0);
        if (fault !== null) return fault;
        at += 1;
      }
      if (this.#left === 0) this.#begin();
    }
    return null;
  }

  #begin(): void {
    this.#left = -1;
    this.#head = 0;
    this.#length = 0;
  }

  #readHead(byte: number): string | null {
    this.#head += 1;
    if (this.#head === 1)
      return (byte & typeAndQos) === publishTwice ? "a message with QoS 2, though it was asked for 1 at most" : null;
    this.#length += (byte & 0x7f) * 128 ** (this.#head - 2);
    if (byte < 0x80) this.#left = this.#length;
    const isEndless = byte >= 0x80 && this.#head > lengthBytes;
    return isEndless || this.#head + this.#length > this.#largest
      ? `a packet of more than ${this.#largest} bytes`
      : null;
  }
}
