/** Of a name, and of most of what describes a device. */
export const nameBytes = 32;

/** A text as Matter takes it: so many bytes of UTF-8 at most (Matter Core Specification, 7.19.2.5), no half character. */
export function matterText(text: string, bytes = nameBytes): string {
  let short = "";
  for (const character of text) {
    if (Buffer.byteLength(short + character) > bytes) break;
    short += character;
  }
  return short.trim();
}
