/** A reply before it goes out; a fault may change each part of it. */
export interface Reply {
  /** What stands before the body, given the body's length in bytes. */
  readonly head: (length: number) => string;
  readonly body: string | Buffer;
  /** What stands after it. */
  readonly tail: string;
  /** How often the whole is sent. */
  readonly times: number;
  /** The connection ends after it. */
  readonly close: boolean;
  /** Each stands behind its length in four bytes, the lowest first. */
  readonly framed?: true;
}

export const noHead = (): string => "";

/** As cgminer answers: text, a NUL, the end of the connection. */
export const rpcReply = (body: string): Reply => ({ head: noHead, body, tail: "\0", times: 1, close: true });

/** All of it as it goes over the wire. */
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
