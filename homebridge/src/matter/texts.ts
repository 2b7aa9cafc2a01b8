/**
 * A text as Matter takes it: so many bytes of UTF-8 at most (Matter Core Specification, 7.19.2.5), 32 for most of
 * what describes a device, and no half character at the end.
 */
export function matterText(text: string, bytes = 32): string {
  let short = "";
  for (const character of text) {
    if (Buffer.byteLength(short + character) > bytes) break;
    short += character;
  }
  return short.trim();
}
