/**
 * For whoever may only look: what can be done (`can...`, `canAction`) is nothing. Works on any reply, since these names
 * stand for nothing else in the contract.
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

/** The same for bytes of JSON without spaces. In a text that somebody wrote the quotes would be escaped. */
export const jsonWithoutActions = (json: Uint8Array): Buffer =>
  Buffer.from(
    Buffer.from(json.buffer, json.byteOffset, json.byteLength)
      .toString()
      .replace(/"(can[A-Z]\w*)":true/g, '"$1":false'),
  );
