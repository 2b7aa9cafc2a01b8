/** The value of a JSON text; undefined where it is not valid. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The fields of the object in a JSON text; null where it is not valid, or not an object. */
export function objectIn(text: string): Readonly<Record<string, unknown>> | null {
  const value = jsonOf(text);
  return typeof value === "object" && value !== null ? { ...value } : null;
}
