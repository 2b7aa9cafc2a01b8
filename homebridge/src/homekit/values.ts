/** A figure as a characteristic takes it: null, "nobody knows", for what is none or lies outside its range. */
export const figureWithin = (value: number | null, lowest: number, highest: number): number | null =>
  value !== null && value >= lowest && value <= highest ? value : null;

/** The nearest figure within the range. */
export const nearestWithin = (value: number, lowest: number, highest: number): number =>
  Math.min(highest, Math.max(lowest, value));

/** Whether what HomeKit writes to a switch means on: it sends true and false, and 1 and 0. */
export const isOn = (value: unknown): boolean => value === true || value === 1;
