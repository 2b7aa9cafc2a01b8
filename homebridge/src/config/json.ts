import { isRecord } from "rigbridge";

export type JsonObject = Readonly<Record<string, unknown>>;

/** The object itself, or an empty one in place of any other value. */
export const recordOf = (value: unknown): JsonObject => (isRecord(value) ? value : {});

/** The list itself, or an empty one in place of any other value. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
