/** Values as Matter has them; null if they are unknown or out of the attribute's range. */

/** W as mW. */
export const milliwatts = (watts: number | null): number | null => whole(watts, 1000, -largestSafe, largestSafe);

/** Wh as mWh. */
export const milliwattHours = (wattHours: number | null): number | null => whole(wattHours, 1000, 0, largestSafe);

/** °C as hundredths: a signed integer of two bytes, not below absolute zero. */
export const centidegrees = (celsius: number | null): number | null => whole(celsius, 100, -27_315, 32_767);

const largestSafe = Number.MAX_SAFE_INTEGER;

function whole(value: number | null, factor: number, smallest: number, largest: number): number | null {
  if (value === null) return null;
  const scaled = Math.round(value * factor);
  return scaled >= smallest && scaled <= largest ? scaled : null;
}

/** Of a name, and of most texts that describe a device. */
export const nameBytes = 32;

/** A text cut to that many bytes of UTF-8 (Matter Core Specification, 7.19.2.5), without splitting a character. */
export function matterText(text: string, bytes = nameBytes): string {
  let short = "";
  for (const character of text) {
    if (Buffer.byteLength(short + character) > bytes) break;
    short += character;
  }
  return short.trim();
}
