type Figures = readonly (number | null)[];

/** null where none is known, as with the others. */
export const highest = (values: Figures): number | null => reduced(values, Math.max);

export const lowest = (values: Figures): number | null => reduced(values, Math.min);

export const total = (values: Figures): number | null => reduced(values, (sum, value) => sum + value);

const reduced = (values: Figures, join: (one: number, other: number) => number): number | null =>
  values.reduce((known, value) => (known === null || value === null ? (known ?? value) : join(known, value)), null);

/** °C; a sensor that is not there reads 0. */
export const celsius = { absent: 0, min: -60, max: 250 } as const;
