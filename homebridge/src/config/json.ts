export type JsonObject = Readonly<Record<string, unknown>>;

/** The object that it is, or an empty one. */
export const recordOf = (value: unknown): JsonObject => (isRecord(value) ? value : {});

/** The list that it is, or an empty one. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const isRecord = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
