/**
 * Display strings for people, in the operator's locale: "73.22 TH/s", "59 59 59 °C", "1h 41m", "$10.17".
 * The formats of the foreign product (`decisions` of the API, "Display strings"): numbers from Intl with Latin digits and
 * plain spaces, a currency symbol in front, a unit behind.
 */
export interface Format {
  /** From H/s, or from Sol/s or G/s for algorithms that count those; unknown is 0. */
  hashrate(perSecond: number | null, unit?: HashUnit): string;
  /** One number per board; "" when none is known. */
  temperatures(celsius: readonly (number | null)[]): string;
  power(watts: number): string;
  /** "1h 41m" from seconds. */
  duration(seconds: number): string;
  /** The currency symbol in front, with a space if it ends in a letter: "$10.17", "CHF 10.17". */
  money(amount: number): string;
  /** Plain digits, for programs: "12169". */
  count(number: number): string;
  /** A whole number for display: "12,169". */
  grouped(number: number): string;
  /** Two decimals. */
  decimal(number: number): string;
  /** "yyyy-MM-dd HH:mm:ss" in the operator's time zone, from epoch ms. */
  localTime(time: number): string;
}

export type HashUnit = "H/s" | "Sol/s" | "G/s";

export interface Display {
  readonly locale: string;
  readonly currency: string;
  /** Default: the machine's. */
  readonly timeZone?: string | undefined;
}

const prefixes = ["", "k", "M", "G", "T", "P", "E", "Z"] as const;

export function formatFor({ locale, currency, timeZone }: Display): Format {
  const number = (digits: number) => {
    const format = new Intl.NumberFormat(locale, {
      numberingSystem: "latn",
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    });
    const point = format.formatToParts(0.5).find(({ type }) => type === "decimal")?.value ?? ".";
    return (value: number): string =>
      // Below 1,000 nothing is grouped, and toFixed takes a fifth of the time; most figures are of that size.
      value >= 0 && value < 999 && !isTie(value, digits)
        ? value.toFixed(digits).replace(".", point)
        : plainSpaces(format.format(value));
  };
  const whole = number(0);
  const decimal = number(2);
  const symbol = currencySymbol(locale, currency);
  return {
    hashrate: (perSecond, unit = "H/s") => hashrate(perSecond ?? 0, unit, decimal),
    temperatures: (celsius) => {
      const known = celsius.filter((value) => value !== null);
      return known.length === 0 ? "" : `${known.map((value) => whole(Math.round(value))).join(" ")} °C`;
    },
    // Not grouped in any recorded sample.
    power: (watts) => `${Math.round(watts)} W`,
    duration,
    money: (amount) => (amount < 0 ? `-${symbol}${decimal(-amount)}` : `${symbol}${decimal(amount)}`),
    count: (number) => String(Math.round(number)),
    grouped: whole,
    decimal,
    localTime: localTime(timeZone),
  };
}

/** Whether the next digit is a final 5, as in 1.005: `toFixed` rounds the binary fraction, Intl the decimal one. */
function isTie(value: number, digits: number): boolean {
  const scaled = value * 10 ** (digits + 1);
  const whole = Math.round(scaled);
  return whole % 10 === 5 && Math.abs(scaled - whole) < 1e-6;
}

function hashrate(perSecond: number, unit: HashUnit, decimal: (value: number) => string): string {
  let value = perSecond;
  let prefix = 0;
  // 999.995 would be formatted as 1,000.00 of the smaller unit.
  while (value >= 999.995 && prefix < prefixes.length - 1) {
    value /= 1000;
    prefix += 1;
  }
  return value === 0 ? `0 ${unit}` : `${decimal(value)} ${prefixes[prefix]}${unit}`;
}

function duration(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  const days = Math.floor(minutes / 1440);
  const hours = Math.floor(minutes / 60) % 24;
  const parts = [days > 0 ? `${days}d` : "", days > 0 || hours > 0 ? `${hours}h` : "", `${minutes % 60}m`];
  return parts.filter((part) => part !== "").join(" ");
}

const plainSpaces = (text: string): string => text.replace(/[\u00a0\u202f]/g, " ");

function currencySymbol(locale: string, currency: string): string {
  const parts = new Intl.NumberFormat(locale, {
    style: "currency",
    currency,
    currencyDisplay: "narrowSymbol",
  }).formatToParts(0);
  const symbol = plainSpaces(parts.find(({ type }) => type === "currency")?.value ?? currency);
  return /\p{L}$/u.test(symbol) ? `${symbol} ` : symbol;
}

/** Many miners are read within the same second, so the text of the last second is cached. */
function localTime(timeZone: string | undefined): (time: number) => string {
  const format = new Intl.DateTimeFormat("sv-SE", {
    ...(timeZone === undefined ? {} : { timeZone }),
    dateStyle: "short",
    timeStyle: "medium",
  });
  let second = Number.NaN;
  let text = "";
  return (time) => {
    if (Math.floor(time / 1000) !== second) {
      second = Math.floor(time / 1000);
      text = plainSpaces(format.format(time));
    }
    return text;
  };
}
