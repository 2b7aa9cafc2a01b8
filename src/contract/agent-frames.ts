// Beside agent.ts, because browsers have no Buffer.

/** A binary message: the number of the channel (4 bytes, big-endian), then bytes as they came. */
export const frameOf = (channel: number, bytes: Uint8Array): Buffer => {
  const head = Buffer.allocUnsafe(4);
  head.writeUInt32BE(channel);
  return Buffer.concat([head, bytes]);
};

export const parseFrame = (frame: Buffer): { readonly channel: number; readonly bytes: Buffer } | null =>
  frame.length < 4 ? null : { channel: frame.readUInt32BE(), bytes: frame.subarray(4) };
