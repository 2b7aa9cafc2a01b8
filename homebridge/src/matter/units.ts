/** Figures as Matter has them; null where nobody knows, or where the attribute has no room for it. */

/** W as mW. */
export const milliwatts = (watts: number | null): number | null => whole(watts, 1000, -largestSafe, largestSafe);

/** Wh as mWh. */
export const milliwattHours = (wattHours: number | null): number | null => whole(wattHours, 1000, 0, largestSafe);

/** °C as hundredths; Matter's temperature is a signed integer of two bytes, and not below absolute zero. */
export const centidegrees = (celsius: number | null): number | null => whole(celsius, 100, -27_315, 32_767);

export const celsius = (hundredths: number): number => hundredths / 100;

const largestSafe = Number.MAX_SAFE_INTEGER;

function whole(value: number | null, times: number, smallest: number, largest: number): number | null {
  if (value === null) return null;
  const scaled = Math.round(value * times);
  return scaled >= smallest && scaled <= largest ? scaled : null;
}
