import { hash } from "node:crypto";

/** Characters; longer replies are not hashed. */
const longestHashed = 1_000_000;

export interface Tagged {
  readonly text: string;
  readonly etag: string | undefined;
}

/**
 * A reply as JSON with its tag. `metaData` contains the time of the answer and is left out of the tag: the passage of
 * time alone is not a change. It is written last, so that the hashed part is serialised only once.
 */
export function tagged(reply: unknown): Tagged {
  if (typeof reply !== "object" || reply === null || !("metaData" in reply)) {
    const text = JSON.stringify(reply);
    return { text, etag: tagOf(text) };
  }
  const { metaData, ...rest } = reply;
  const stable = JSON.stringify(rest);
  const separator = stable === "{}" ? "" : ",";
  const text = `${stable.slice(0, -1)}${separator}"metaData":${JSON.stringify(metaData)}}`;
  return { text, etag: tagOf(stable) };
}

const tagOf = (text: string): string | undefined =>
  text.length > longestHashed ? undefined : weak(hash("sha1", text, "base64url"));

/** The tag of a file's bytes. */
export const contentTag = (bytes: Buffer): string => weak(hash("sha1", bytes, "base64url"));

/** Tags are weak: equal tags may stand for bodies that differ in the time of the answer or in compression. */
export const weak = (tag: string): string => `W/"${opaque(tag)}"`;

const opaque = (tag: string): string => tag.replace(/^W\//, "").replace(/^"(.*)"$/, "$1");

/** Whether If-None-Match names this tag (weak comparison, RFC 9110 13.1.2). */
export function clientHolds(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === "*") return true;
  const held = `"${opaque(etag)}"`;
  return (ifNoneMatch.match(/"[^"]*"/g) ?? []).some((tag) => tag === held);
}
