const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const comma = 0x2c;

/**
 * Cuts the members with these names out of an object's JSON (without spaces), joined by commas and without braces. For
 * 10,000 miners this is a walk over bytes instead of a second of parsing and stringifying.
 */
export function fieldsOfJson(json: Buffer, wanted: ReadonlySet<string>): Buffer {
  const found: Buffer[] = [];
  let depth = 0;
  let start = 1;
  let name = "";
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === quote) at = endOfText(json, at);
    else if (isOpening(byte)) depth += 1;
    else if (byte === colon && depth === 1 && name === "") name = json.toString("utf8", start + 1, at - 1);
    else if (byte === comma || isClosing(byte)) {
      if (depth === 1) {
        if (wanted.has(name)) found.push(separator, json.subarray(start, at));
        start = at + 1;
        name = "";
      }
      if (byte !== comma) depth -= 1;
    }
  }
  return Buffer.concat(found.slice(1));
}

const separator = Buffer.from(",");

const isOpening = (byte: number | undefined): boolean => byte === 0x7b || byte === 0x5b;
const isClosing = (byte: number | undefined): boolean => byte === 0x7d || byte === 0x5d;

/** The end of the string that begins here. */
function endOfText(json: Buffer, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== quote) at += json[at] === backslash ? 2 : 1;
  return at;
}
