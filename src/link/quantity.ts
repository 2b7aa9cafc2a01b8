/** What a number measures. It may be followed by one of the units; without one it is in the first. */
export interface Quantity {
  readonly what: string;
  readonly units: readonly string[];
  readonly min: number;
  readonly max: number;
}

/** The number in a text, or at a path in its JSON; a returned string describes the mistake. */
export function numberIn(text: string, path: string | undefined, { what, units, min, max }: Quantity): number | string {
  if (path !== undefined && parsed(text) === undefined) return "answers with something other than JSON";
  const value = valueIn(text, path);
  if (value === undefined) return `has nothing at "${path}" in its answer`;
  if (typeof value === "object" && path === undefined) return "answers with JSON; set path to where the number is";
  const number = typeof value === "number" ? value : typeof value === "string" ? numberOf(value, units) : Number.NaN;
  if (!Number.isFinite(number)) return "answers with something other than a number";
  return number < min || number > max ? `answers with ${number}, which is not ${what} in ${units[0]}` : number;
}

/**
 * A text's JSON value, otherwise the text itself; with a path, the value there in its JSON, undefined if there is none.
 */
export function valueIn(text: string, path: string | undefined): unknown {
  const json = parsed(text);
  return path === undefined ? (json ?? text) : valueAt(json, path);
}

/** The value at a path of keys and list indexes separated by dots; undefined if there is none. */
export const valueAt = (json: unknown, path: string): unknown => at(json, path.split("."));

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function at(json: unknown, [step, ...rest]: readonly string[]): unknown {
  if (step === undefined) return json;
  if (typeof json !== "object" || json === null || !Object.prototype.propertyIsEnumerable.call(json, step))
    return undefined;
  return at(Reflect.get(json, step), rest);
}

const longestNumber = 80;

/** With decimal point, a JSON exponent and one of the units; NaN for anything else. */
function numberOf(text: string, units: readonly string[]): number {
  if (text.length > longestNumber) return Number.NaN;
  const [, digits = "", unit = ""] =
    /^([+-]?\d{1,15}(?:\.\d{1,15})?(?:e[+-]?\d{1,3})?)\s*(\S*)$/i.exec(text.trim()) ?? [];
  return digits === "" || (unit !== "" && !units.includes(unit)) ? Number.NaN : Number(digits);
}
