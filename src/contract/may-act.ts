/**
 * A reply for callers who may only view: every `can...` flag is false. Works on any reply, because the contract uses
 * such names for nothing else.
 */
export function withoutActions(reply: unknown): unknown {
  if (Array.isArray(reply)) return reply.map(withoutActions);
  if (typeof reply !== "object" || reply === null) return reply;
  return Object.fromEntries(
    Object.entries(reply).map(([name, value]) => [
      name,
      canDo.test(name) && value === true ? false : withoutActions(value),
    ]),
  );
}

const canDo = /^can[A-Z]/;

/** Like `withoutActions`, for JSON without spaces, as bytes. Strings cannot match: their quotes are escaped. */
export const jsonWithoutActions = (json: Uint8Array): Buffer =>
  Buffer.from(
    Buffer.from(json.buffer, json.byteOffset, json.byteLength)
      .toString()
      .replace(/"(can[A-Z]\w*)":true/g, '"$1":false'),
  );
