/** Packets that are none, or are none of an honest neighbour. */
export const garbage: readonly Buffer[] = [
  Buffer.alloc(0),
  Buffer.from("GET / HTTP/1.1\r\n\r\n"),
  Buffer.alloc(12, 0xff),
  Buffer.alloc(9_000, 0xc0),
  // Says that it holds 65,535 answers.
  Buffer.from("000084000000ffff00000000", "hex"),
  // A name that points to itself.
  Buffer.from("000084000000000100000000c00c000c0001000000780002c00c", "hex"),
  // A pointer, a place and an address that end too early.
  Buffer.from("0000840000000001000000000a5f72696762726964676504", "hex"),
  // A question with an empty name, and one of an unknown type.
  Buffer.from("00000000000200000000000000000c000100fffe0001", "hex"),
  ...Array.from({ length: 50 }, (_, seed) =>
    Buffer.from(Array.from({ length: 12 + seed }, (_, at) => ((seed + 1) * (at + 7) * 2_654_435_761) >>> 24)),
  ),
];
