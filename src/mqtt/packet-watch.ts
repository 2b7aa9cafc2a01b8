/** Maximum bytes of the length of a packet and of its properties (MQTT 5, 1.5.5). */
const lengthBytes = 4;
/** Packet types, in the upper half of the first byte. */
const publish = 3;
const subscribe = 8;
const unsubscribe = 10;
/** The QoS bits of a PUBLISH, and QoS 2. */
const qosBits = 0x06;
const qos2 = 0x04;
/** The place of the protocol version in the body of CONNECT, after the name "MQTT" and its length. */
const versionAt = 6;

/** Types whose content may be large: messages and lists of topics. */
const mayBeLarge: ReadonlySet<number> = new Set([publish, subscribe, unsubscribe]);

/** Limits of packets. Faults are worded to complete "it sends ...". */
export interface PacketRules {
  /** Bytes of a PUBLISH, SUBSCRIBE or UNSUBSCRIBE, header included. */
  readonly largest: number;
  /** Bytes of any other packet; by default `largest`. */
  readonly largestOther?: number;
  /** Bytes of the properties of a PUBLISH, SUBSCRIBE or UNSUBSCRIBE in MQTT 5. */
  readonly properties?: number;
  /** Why a PUBLISH with QoS 2 is refused; absent: it is not. */
  readonly qos2?: string;
}

/**
 * Follows the packets of a connection by their headers, to detect an oversized packet before it has arrived: the
 * parsers of mqtt.js and aedes buffer a packet until it is complete, and create objects for all its properties.
 */
export class PacketWatch {
  readonly #rules: PacketRules;
  #first = 0;
  /** Bytes of the body still to come; -1 while the header is read. */
  #remaining = -1;
  /** Bytes of the header read so far, and the length read so far. */
  #head = 0;
  #length = 0;
  /** Bytes of the body read so far, and the position of the next one to check; Infinity for none. */
  #at = 0;
  #next = Number.POSITIVE_INFINITY;
  #topicLength = 0;
  #propertiesAt = 0;
  #propertyBytes = 0;
  #isFirst = true;
  #isVersion5 = false;
  #unfinishedAt = 0;

  constructor(rules: PacketRules) {
    this.#rules = rules;
  }

  /** Where the incomplete packet begins in the last inspected bytes; 0 if it began before them. */
  get unfinishedAt(): number {
    return this.#unfinishedAt;
  }

  /** Missing bytes of this packet; 0 if it is complete or its header is incomplete. */
  get missing(): number {
    return Math.max(0, this.#remaining);
  }

  /** The fault in the next bytes; null if there is none. */
  inspect(bytes: Uint8Array): string | null {
    this.#unfinishedAt = 0;
    for (let at = 0; at < bytes.length; ) {
      let fault: string | null = null;
      if (this.#remaining > 0) {
        const passed = Math.max(1, Math.min(this.#remaining, bytes.length - at, this.#next - this.#at));
        if (this.#at === this.#next) fault = this.#readBody(bytes[at] ?? 0);
        this.#remaining -= passed;
        this.#at += passed;
        at += passed;
      } else {
        fault = this.#readHead(bytes[at] ?? 0);
        at += 1;
      }
      if (fault !== null) return fault;
      if (this.#remaining === 0) {
        this.#begin();
        this.#unfinishedAt = at;
      }
    }
    return null;
  }

  #begin(): void {
    this.#remaining = -1;
    this.#head = 0;
    this.#length = 0;
    this.#isFirst = false;
  }

  #readHead(byte: number): string | null {
    const { largest, largestOther = largest, qos2: noQos2 } = this.#rules;
    this.#head += 1;
    if (this.#head === 1) {
      this.#first = byte;
      return noQos2 !== undefined && this.#type === publish && (byte & qosBits) === qos2 ? noQos2 : null;
    }
    this.#length += (byte & 0x7f) * 128 ** (this.#head - 2);
    if (byte < 0x80) this.#beginBody();
    const isEndless = byte >= 0x80 && this.#head > lengthBytes;
    const most = mayBeLarge.has(this.#type) ? largest : largestOther;
    return isEndless || this.#head + this.#length > most ? `a packet of more than ${most} bytes` : null;
  }

  get #type(): number {
    return this.#first >> 4;
  }

  #beginBody(): void {
    const hasProperties = this.#isVersion5 && this.#rules.properties !== undefined && mayBeLarge.has(this.#type);
    this.#remaining = this.#length;
    this.#at = 0;
    this.#propertiesAt = 2;
    this.#propertyBytes = 0;
    if (this.#isFirst) this.#next = versionAt;
    else if (!hasProperties) this.#next = Number.POSITIVE_INFINITY;
    else this.#next = this.#type === publish ? 0 : this.#propertiesAt;
  }

  /** A byte of the length of the topic or of the properties, or the version. */
  #readBody(byte: number): string | null {
    this.#next += 1;
    if (this.#isFirst) {
      this.#isVersion5 = byte === 5;
      this.#next = Number.POSITIVE_INFINITY;
    } else if (this.#at === 0) this.#topicLength = byte << 8;
    else if (this.#at === 1) {
      const packetId = (this.#first & qosBits) === 0 ? 0 : 2;
      this.#propertiesAt = 2 + this.#topicLength + byte + packetId;
      this.#next = this.#propertiesAt;
    } else {
      const { properties = 0 } = this.#rules;
      this.#propertyBytes += (byte & 0x7f) * 128 ** (this.#at - this.#propertiesAt);
      if (byte < 0x80) this.#next = Number.POSITIVE_INFINITY;
      if (this.#propertyBytes > properties) return `a packet with more than ${properties} bytes of properties`;
    }
    return null;
  }
}
