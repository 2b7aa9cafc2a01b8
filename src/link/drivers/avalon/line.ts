/** The fields of the line in which Avalon's firmware reports, in their order. */
export interface Line {
  readonly fields: ReadonlyMap<string, string>;
  /** It ends in the middle of a field or repeats one; the first counts. */
  readonly odd: boolean;
}

/**
 * Reads `KEY[value] KEY[value]`. A value extends to the next `]`: it may be empty and contain spaces, colons, commas
 * and percent signs. A key may contain spaces; newer firmware groups fields in `'NAME':{...}`. Some firmware omits the
 * space between two fields. Never throws, linear in time.
 * Source: replies of A-series, Nano 3S and Q.
 */
export function parseLine(text: string): Line {
  const fields = new Map<string, string>();
  let odd = false;
  for (let at = 0; ; ) {
    const open = text.indexOf("[", at);
    if (open === -1) return { fields, odd };
    const close = text.indexOf("]", open + 1);
    const key = keyOf(text.slice(at, open));
    if (close === -1) return { fields, odd: true };
    if (key === "" || fields.has(key)) odd = true;
    else fields.set(key, text.slice(open + 1, close).trim());
    at = close + 1;
  }
}

/** The text before a bracket may close one group and open another: `} 'HB1':{PVT_T1`. */
const keyOf = (text: string): string => text.slice(text.lastIndexOf("{") + 1).trim();

/** The numbers in a field ("77 77 76"), null for other words. Empty when the field is empty or missing. */
export function numbersIn(text: string | undefined): (number | null)[] {
  const parts = text?.split(/\s+/, most).filter((part) => part !== "") ?? [];
  return parts.map((part) => (/^-?\d{1,15}(?:\.\d{0,9})?$/.test(part) ? Number(part) : null));
}

/** Far more than the chips on a board. */
const most = 1_024;
