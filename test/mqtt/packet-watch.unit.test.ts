import { describe, expect, test } from "vitest";
import { PacketWatch } from "../../src/mqtt/packet-watch.ts";

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
const ping = 0xd0;
/** What is found when the bytes come in pieces of this size. */
function found(bytes: Buffer, piece: number, largest = 1_000): string | null {
  const watch = new PacketWatch(largest);
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
    expect(found(Buffer.from([publish, 0x80, 0x80, 0x80, 0x80]), piece, 1e9)).toMatch(/^a packet of more than/);
  });

  test("are stopped at a message with QoS 2", () => {
    expect(found(Buffer.concat([packet(publish, 5), packet(0x34, 5)]), piece)).toMatch(/^a message with QoS 2/);
    expect(found(packet(0x3d, 5), piece)).toMatch(/^a message with QoS 2/);
  });
});
