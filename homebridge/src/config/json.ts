export type JsonObject = Readonly<Record<string, unknown>>;

/** The object itself, or an empty one in place of any other value. */
export const recordOf = (value: unknown): JsonObject => (isRecord(value) ? value : {});

/** The list itself, or an empty one in place of any other value. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const isRecord = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
