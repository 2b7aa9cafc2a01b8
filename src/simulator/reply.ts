/** A reply before it is sent; a fault may change each part of it. */
export interface Reply {
  /** What precedes the body, given the length of the body in bytes. */
  readonly head: (length: number) => string;
  readonly body: string | Buffer;
  /** What follows the body. */
  readonly tail: string;
  /** How often the reply is sent. */
  readonly times: number;
  /** Ends the connection after the reply. */
  readonly close: boolean;
  /** Preceded by its length in four bytes, little-endian. */
  readonly framed?: true;
}

export const noHead = (): string => "";

/** A reply of cgminer: text, a NUL, the end of the connection. */
export const rpcReply = (body: string): Reply => ({ head: noHead, body, tail: "\0", times: 1, close: true });

/** The bytes of a reply. */
export function bytesOf(reply: Reply): string | Buffer {
  const once =
    typeof reply.body === "string"
      ? reply.head(Buffer.byteLength(reply.body)) + reply.body + reply.tail
      : Buffer.concat([Buffer.from(reply.head(reply.body.length)), reply.body, Buffer.from(reply.tail)]);
  if (reply.framed) return Buffer.concat(Array(reply.times).fill(framed(Buffer.from(once))));
  if (reply.times === 1) return once;
  return typeof once === "string" ? once.repeat(reply.times) : Buffer.concat(Array(reply.times).fill(once));
}

function framed(payload: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(payload.length);
  return Buffer.concat([length, payload]);
}
