import { describe, expect, test } from "@jest/globals";
import { WholePackets } from "../../src/mqtt/whole-packets.ts";
import { beginningOf } from "./rude-broker.ts";

const topic = "a/b";
/** A message of QoS 0 with a payload of so many bytes. */
const message = (bytes: number): Buffer =>
  Buffer.concat([beginningOf(topic, 2 + topic.length + bytes), Buffer.alloc(bytes, "x")]);
const ping = Buffer.from([0xc0, 0]);
const sizes = [0, 1, 117, 3, 300, 40_000, 0, 70_000, 5];
/** In memory of its own, as what a socket receives. */
const alone = (bytes: Uint8Array): Buffer => Buffer.from(new Uint8Array(bytes).buffer);
const stream = Buffer.concat(sizes.flatMap((bytes) => [message(bytes), ping]));

describe.each([1, 2, 3, 7, 1_000, 65_536, 1_000_000])("a stream in pieces of %d", (piece) => {
  test("leaves as it came", () => {
    const packets = new WholePackets({ largest: 100_000 });
    const parts: Buffer[] = [];
    for (let at = 0; at < stream.length; at += piece) {
      const whole = packets.take(alone(stream.subarray(at, at + piece)));
      if (whole !== null) parts.push(Buffer.from(whole));
    }
    expect(Buffer.concat(parts).equals(stream)).toBe(true);
  });
});

test("frees what it has copied, and nothing that shares its memory with others", () => {
  const packets = new WholePackets({ largest: 100_000 });
  const large = message(40_000);
  const first = alone(large.subarray(0, 20_000));
  expect(packets.take(first)).toBeNull();
  expect(first.buffer.byteLength).toBe(0);
  const shared = alone(Buffer.concat([large.subarray(20_000), ping]));
  const rest = shared.subarray(0, large.length - 20_000);
  expect(packets.take(rest)?.equals(large)).toBe(true);
  expect(shared.subarray(-ping.length).equals(ping)).toBe(true);
  // What is passed on is not copied.
  const small = alone(ping);
  expect(packets.take(small)?.buffer).toBe(small.buffer);
});

test("throws at the header of a packet that is too large, before there is memory for it", () => {
  const packets = new WholePackets({ largest: 100_000 });
  expect(() => packets.take(message(100_000).subarray(0, 10))).toThrow("it sends a packet of more than 100000 bytes");
});
