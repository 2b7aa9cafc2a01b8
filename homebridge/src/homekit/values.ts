/** A value as a characteristic accepts it; null, "unknown", if it is out of range. */
export const valueWithin = (value: number | null, lowest: number, highest: number): number | null =>
  value !== null && value >= lowest && value <= highest ? value : null;

/** The nearest value within the range. */
export const nearestWithin = (value: number, lowest: number, highest: number): number =>
  Math.min(highest, Math.max(lowest, value));

/** Whether a value that HomeKit writes to a switch means on: it sends true and false, and 1 and 0. */
export const isOn = (value: unknown): boolean => value === true || value === 1;
