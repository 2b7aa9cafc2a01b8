import type { Detail } from "../messages/coded-text.ts";
import { detail } from "../messages/detail.ts";
import type { Control } from "./readings.ts";

type Unit = NonNullable<Control["unit"]>;

interface Spelling {
  /** Case counts only where it distinguishes units: mV and MV, mW and MW. */
  readonly written: RegExp;
  readonly name: string;
  readonly convert: (number: number) => number;
}

const times = (name: string, written: RegExp, factor = 1): Spelling => ({
  name,
  written,
  convert: (number) => number * factor,
});

/** The spellings of units for numbers, by the unit of the setting. */
const spellings: Readonly<Record<Unit, readonly Spelling[]>> = {
  W: [times("W", /^w$/i), times("kW", /^kw$/i, 1000), times("MW", /^MW$/, 1e6)],
  "%": [times("%", /^%$/)],
  MHz: [times("MHz", /^mhz$/i), times("GHz", /^ghz$/i, 1000)],
  mV: [times("mV", /^mv$|^mV$/), times("V", /^v$/i, 1000)],
  "°C": [
    times("°C", /^(°?c|℃)$/i),
    { name: "°F", written: /^(°?f|℉)$/i, convert: (fahrenheit) => (fahrenheit - 32) / 1.8 },
  ],
};

/** Sign, digits, and a unit that may follow. */
const written = /^([+-]?\d{1,15}(?:[.,]\d{1,20})?(?:e[+-]?\d{1,3})?)\s*([^\d\s].*)?$/i;

/** Groups of three digits after a comma: "2,500" is 2500 to one reader and 2.5 to another. */
const ambiguous = /^[+-]?[1-9]\d{0,2},\d{3}$/;

/**
 * The number in a text like "2500", "2.5 kW", "2,5kW" or "70 °F", in this unit; null: the number has no unit. A detail
 * says what is wrong with it. There are no thousands separators.
 */
export function quantityIn(text: string, unit: Unit | null): number | Detail {
  const [, digits, suffix = ""] = written.exec(text.trim()) ?? [];
  const known = unit === null ? [] : spellings[unit];
  const names = known.map(({ name }) => name).join(" or ");
  const number = Number(digits?.replace(",", "."));
  if (digits === undefined || !Number.isFinite(number))
    return unit === null ? detail("quantity.number") : detail("quantity.numberIn", { units: names });
  if (/^[.,'’]/.test(suffix)) return detail("quantity.separators");
  if (ambiguous.test(digits)) return detail("quantity.comma");
  if (suffix === "") return number;
  const spelling = known.find((each) => each.written.test(suffix));
  if (spelling !== undefined) return rounded(spelling.convert(number));
  const given = `"${suffix.slice(0, 12)}"`;
  return unit === null ? detail("quantity.noUnit", { given }) : detail("quantity.unit", { units: names, given });
}

/** Without the error of binary fractions, so that 2.3 kW is 2300 W. */
const rounded = (number: number): number => Number(number.toPrecision(12));
