/**
 * Display strings as in the recorded replies of the foreign product. They are made here, and not by the
 * formatter of the service, so that tests do not compare a mistake of that with itself.
 */
export interface TwinDisplay {
  /** "73,22 TH/s" */
  hashrate(perSecond: number, unit?: string): string;
  /** "59 59 59 °C", one per board. */
  temperatures(celsius: readonly number[]): string;
  /** "1h 41m" */
  duration(seconds: number): string;
  /** "$10,17" */
  money(amount: number): string;
  /** "12169": never grouped. */
  count(number: number): string;
  /** "200 540,59" */
  decimal(number: number): string;
  /** "2026-01-31 23:04:05" */
  localTime(time: number): string;
}

interface DisplayOptions {
  readonly locale: string;
  readonly currency: string;
  readonly timeZone?: string | undefined;
}

const symbols: Readonly<Record<string, string>> = { USD: "$", EUR: "€", GBP: "£", SEK: "kr " };
const prefixes = ["", "k", "M", "G", "T", "P", "E"];

export function displayFor({ locale, currency, timeZone }: DisplayOptions): TwinDisplay {
  const { point, group } = signsOf(locale);
  const decimal = (number: number): string => {
    const [whole = "", fraction = ""] = Math.abs(number).toFixed(2).split(".");
    const grouped = whole.replace(/\B(?=(\d{3})+$)/g, group);
    return `${number < 0 ? "-" : ""}${grouped}${point}${fraction}`;
  };
  const symbol = symbols[currency] ?? `${currency} `;
  const clock = new Intl.DateTimeFormat("en-GB", {
    ...(timeZone === undefined ? {} : { timeZone }),
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
  });
  return {
    decimal,
    count: (number) => String(Math.round(number)),
    money: (amount) => `${amount < 0 ? "-" : ""}${symbol}${decimal(Math.abs(amount))}`,
    temperatures: (celsius) => (celsius.length === 0 ? "" : `${celsius.map((each) => Math.round(each)).join(" ")} °C`),
    hashrate: (perSecond, unit = "H/s") => {
      const steps = perSecond < 1 ? 0 : Math.min(prefixes.length - 1, Math.floor(Math.log10(perSecond) / 3));
      return perSecond === 0 ? `0 ${unit}` : `${decimal(perSecond / 1000 ** steps)} ${prefixes[steps]}${unit}`;
    },
    duration: (seconds) => {
      const minutes = Math.floor(seconds / 60);
      const hours = Math.floor(minutes / 60);
      const days = Math.floor(hours / 24);
      if (days > 0) return `${days}d ${hours % 24}h ${minutes % 60}m`;
      return hours > 0 ? `${hours}h ${minutes % 60}m` : `${minutes}m`;
    },
    localTime: (time) => {
      const parts = Object.fromEntries(clock.formatToParts(time).map(({ type, value }) => [type, value]));
      const { year, month, day, hour, minute, second } = parts;
      return `${year}-${month}-${day} ${hour}:${minute}:${second}`;
    },
  };
}

/** Decimal and group sign of a locale, with plain spaces as in the recorded replies. */
function signsOf(locale: string): { readonly point: string; readonly group: string } {
  const parts = new Intl.NumberFormat(locale, { numberingSystem: "latn", minimumFractionDigits: 1 }).formatToParts(1e6);
  const sign = (type: "decimal" | "group") => parts.find((part) => part.type === type)?.value ?? "";
  return { point: sign("decimal"), group: sign("group").replace(/\s/, " ") };
}
