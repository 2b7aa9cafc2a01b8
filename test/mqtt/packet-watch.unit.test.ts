import { describe, expect, test } from "@jest/globals";
import { type PacketRules, PacketWatch } from "../../src/mqtt/packet-watch.ts";

/** A packet of this type and flags whose rest has so many bytes, with the length written as MQTT does. */
function packet(first: number, length: number): Buffer {
  const head = [first];
  for (let left = length; ; left = Math.floor(left / 128)) {
    head.push((left % 128) + (left >= 128 ? 128 : 0));
    if (left < 128) break;
  }
  return Buffer.concat([Buffer.from(head), Buffer.alloc(length, 0xff)]);
}

const publish = 0x32;
const subscribe = 0x82;
const ping = 0xd0;
const qos2 = "a message with QoS 2";
/** What is found when the bytes come in pieces of this size. */
function found(bytes: Buffer, piece: number, rules: PacketRules = { largest: 1_000, qos2 }): string | null {
  const watch = new PacketWatch(rules);
  for (let at = 0; at < bytes.length; at += piece) {
    const fault = watch.inspect(bytes.subarray(at, at + piece));
    if (fault !== null) return fault;
  }
  return null;
}

describe.each([1, 2, 3, 7, 100_000])("a broker's bytes in pieces of %d", (piece) => {
  test("pass, whatever the payloads are, while no packet is too large", () => {
    const packets = [0, 1, 127, 128, 500, 997].flatMap((length) => [packet(publish, length), packet(ping, 0)]);
    expect(found(Buffer.concat([...packets, ...packets]), piece)).toBeNull();
  });

  test("are stopped at the header of a packet that is one byte too large", () => {
    const bytes = Buffer.concat([packet(publish, 997), packet(ping, 0), packet(publish, 998).subarray(0, 3)]);
    expect(found(bytes, piece)).toBe("a packet of more than 1000 bytes");
  });

  test("are stopped at an endless length", () => {
    expect(found(Buffer.from([publish, 0x80, 0x80, 0x80, 0x80]), piece, { largest: 1e9 })).toMatch(
      /^a packet of more than/,
    );
  });

  test("are stopped at a message with QoS 2", () => {
    expect(found(Buffer.concat([packet(publish, 5), packet(0x34, 5)]), piece)).toMatch(/^a message with QoS 2/);
    expect(found(packet(0x3d, 5), piece)).toMatch(/^a message with QoS 2/);
  });
});

/** A packet of this type with this body. */
const withBody = (first: number, ...body: readonly Buffer[]): Buffer => {
  const bytes = Buffer.concat(body);
  const head = packet(first, bytes.length);
  return Buffer.concat([head.subarray(0, head.length - bytes.length), bytes]);
};

const connect = (version: number): Buffer =>
  withBody(0x10, Buffer.from([0, 4]), Buffer.from("MQTT"), Buffer.from([version, 2, 0, 60, 0, 0, 1, 0x61]));
/** Properties of so many bytes, after their length of two bytes. */
const properties = (bytes: number): Buffer =>
  Buffer.concat([Buffer.from([(bytes % 128) + 128, Math.floor(bytes / 128)]), Buffer.alloc(bytes, 0xff)]);
const topic = Buffer.concat([Buffer.from([1, 4]), Buffer.alloc(260, "t")]);
const id = Buffer.from([0, 7]);
const payload = Buffer.alloc(3_000, 0xff);
/** A message with QoS 0 and 1, and a subscription. */
const forms: readonly [string, (bytes: number) => Buffer][] = [
  ["a message with QoS 0", (bytes) => withBody(0x31, topic, properties(bytes), payload)],
  ["a message with QoS 1", (bytes) => withBody(publish, topic, id, properties(bytes), payload)],
  ["a subscription", (bytes) => withBody(subscribe, id, properties(bytes), payload)],
];

describe.each([1, 2, 3, 7, 100_000])("a client's bytes in pieces of %d", (piece) => {
  const rules = { largest: 10_000, largestOther: 500, properties: 300 };

  test.each(forms)("%s has at most so many bytes of properties in MQTT 5", (_form, make) => {
    const good = Buffer.concat([connect(5), make(300), packet(ping, 0), make(200), make(300)]);
    expect(found(good, piece, rules)).toBeNull();
    expect(found(Buffer.concat([good, make(301)]), piece, rules)).toBe(
      "a packet with more than 300 bytes of properties",
    );
  });

  test.each(forms)("%s has none in MQTT 3.1.1, whatever its bytes look like", (_form, make) => {
    expect(found(Buffer.concat([connect(4), make(5_000)]), piece, rules)).toBeNull();
  });

  test("packets of other types are short", () => {
    expect(found(Buffer.concat([connect(5), packet(0x40, 497)]), piece, rules)).toBeNull();
    expect(found(Buffer.concat([connect(5), packet(0x40, 498)]), piece, rules)).toBe("a packet of more than 500 bytes");
    expect(found(packet(0x10, 498), piece, rules)).toBe("a packet of more than 500 bytes");
  });
});
