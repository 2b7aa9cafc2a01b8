/** Whether a value is an object with named fields: an array is not one, nor is null. */
export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
