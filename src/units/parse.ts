/**
 * Parses display strings: "73,22 TH/s", "59 59 59 °C", "1h 41m", "-$10.17" (the formats of format.ts and of the foreign
 * product). Each method returns null where the text is not such a string in this locale.
 */
export interface Parser {
  /** H/s, with any prefix; Sol/s and G/s count as H/s. */
  hashrate(text: string): number | null;
  /** °C, one per board. */
  temperatures(text: string): number[] | null;
  /** W. */
  power(text: string): number | null;
  /** s. */
  duration(text: string): number | null;
  /** With any symbol. */
  money(text: string): number | null;
  count(text: string): number | null;
  decimal(text: string): number | null;
}

const powers = { "": 1, k: 1e3, K: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18, Z: 1e21, Y: 1e24 } as const;

/** Throws RangeError where the locale is not a language tag. */
export function parserFor({ locale }: { readonly locale: string }): Parser {
  const plain = plainer(locale);
  const numbers = [...new Set([writingOf(locale, "latn"), writingOf(locale, undefined)])].map(numberReader);
  const number = (text: string): number | null => {
    for (const read of numbers) {
      const value = read(text);
      if (value !== null) return value;
    }
    return null;
  };
  const decimal = (text: string) => number(plain(text));
  return {
    decimal,
    count: (text) => {
      const value = decimal(text);
      return value !== null && Number.isInteger(value) ? value : null;
    },
    hashrate: (text) => withUnit(plain(text), hashUnit, number),
    power: (text) => withUnit(plain(text), wattUnit, number),
    temperatures: (text) => temperatures(plain(text), number),
    duration: (text) => duration(plain(text)),
    money: (text) => money(plain(text), number),
  };
}

const hashUnit = /^(.+?) ?([kKMGTPEZY]?)(?:H|h|hash|Hash|Sol|sol|G|g)\/s$/;
const wattUnit = /^(.+?) ?([kM]?)W$/;

function withUnit(text: string, unit: RegExp, number: (text: string) => number | null): number | null {
  const [, digits = "", prefix = ""] = unit.exec(text) ?? [];
  const value = number(digits);
  return value === null || !isPrefix(prefix) ? null : value * powers[prefix];
}

const isPrefix = (prefix: string): prefix is keyof typeof powers => Object.hasOwn(powers, prefix);

/** No board reaches 1,000 °C, so a space always separates two boards, never groups of digits. */
function temperatures(text: string, number: (text: string) => number | null): number[] | null {
  const [, list = "", unit] = /^(.+?) ?°([CF])$/.exec(text) ?? [];
  const values = list.split(" ").map(number);
  const known = values.filter((value) => value !== null);
  if (known.length < values.length) return null;
  return unit === "F" ? known.map((value) => (value - 32) / 1.8) : known;
}

const durationParts = /^(?:(\d{1,9})d ?)?(?:(\d{1,9})h ?)?(?:(\d{1,9})m ?)?(?:(\d{1,9})s)?$/;

function duration(text: string): number | null {
  const parts = durationParts.exec(text);
  if (parts === null || text === "") return null;
  const [, days = "0", hours = "0", minutes = "0", seconds = "0"] = parts;
  return Number(days) * 86_400 + Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
}

/** The symbol in front, as the foreign product has it, or behind; a minus on either side of it. */
function money(text: string, number: (text: string) => number | null): number | null {
  const [, before = "", digits = ""] = /^([^\d]*)(\d.*?)[^\d]*$/.exec(text) ?? [];
  const amount = number(digits);
  return amount !== null && before.includes("-") ? -amount : amount;
}

/** The number format of a locale: decimal sign, group sign, and the sizes of the last group and those before. */
interface Writing {
  readonly point: string;
  readonly group: string;
  readonly last: number;
  readonly others: number;
}

const spaces = /[\u0020\u00a0\u2007\u2009\u202f]+/g;
const apostrophes = /['’ʼ]/g;
const directionMarks = /[\u200e\u200f\u061c]/g;
const minusSigns = /[−‐‑﹣－]/g;

const tidy = (text: string): string =>
  text.replace(directionMarks, "").replace(spaces, " ").replace(apostrophes, "'").replace(minusSigns, "-").trim();

/** Normalises spaces, apostrophes, minus signs and the digits of the locale. */
function plainer(locale: string): (text: string) => string {
  const own = [...new Intl.NumberFormat(locale, { useGrouping: false }).format(9_876_543_210)].toReversed();
  if (own[0] === "0" || own.length !== 10) return tidy;
  return (text) => tidy([...text].map((sign) => (own.includes(sign) ? own.indexOf(sign) : sign)).join(""));
}

function writingOf(locale: string, numberingSystem: string | undefined): string {
  const parts = new Intl.NumberFormat(locale, {
    ...(numberingSystem === undefined ? {} : { numberingSystem }),
    minimumFractionDigits: 1,
  }).formatToParts(1_234_567_890.5);
  const sizes = parts.filter(({ type }) => type === "integer").map(({ value }) => [...value].length);
  const sign = (type: "decimal" | "group") => signOf(parts.find((part) => part.type === type)?.value ?? "");
  const writing: Writing = {
    point: sign("decimal"),
    group: sign("group"),
    last: sizes.at(-1) ?? 3,
    others: sizes.at(-2) ?? 3,
  };
  return patternOf(writing);
}

/** After `tidy`; a group sign that is a space becomes one plain space. */
const signOf = (value: string): string => (/^\s+$/.test(value) ? " " : tidy(value));

const escaped = (sign: string): string => sign.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Digits with all group signs in place, or with none. */
function patternOf({ point, group, last, others }: Writing): string {
  const grouped = `\\d{1,${Math.max(last, others)}}(?:${escaped(group)}\\d{${others}})*${escaped(group)}\\d{${last}}`;
  const whole = group === "" ? "\\d+" : `${grouped}|\\d+`;
  return `^(-?)(${whole})(?:${escaped(point)}(\\d+))?$`;
}

function numberReader(pattern: string): (text: string) => number | null {
  const written = new RegExp(pattern);
  return (text) => {
    const [, sign = "", whole, fraction = ""] = written.exec(text) ?? [];
    return whole === undefined ? null : Number(`${sign}${whole.replace(/\D/g, "")}.${fraction}`);
  };
}
