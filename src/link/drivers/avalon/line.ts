/** The line by which Avalon's firmware reports: field by field, in the order in which they came. */
export interface Line {
  readonly fields: ReadonlyMap<string, string>;
  /** It broke off in the middle of a field, or says one twice; the first counts. */
  readonly odd: boolean;
}

/**
 * Reads `KEY[value] KEY[value]`. A value reaches to the next `]`: it may be empty and may hold spaces, colons, commas
 * and percent signs. A key may hold spaces; on newer firmware each group of fields stands in `'NAME':{...}`. Some
 * firmware forgets the space between two fields. Never throws, linear in time.
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

/** What stands before a bracket may end one group and open another: `} 'HB1':{PVT_T1`. */
const keyOf = (text: string): string => text.slice(text.lastIndexOf("{") + 1).trim();

/** The numbers in a field, null where one is none: "77 77 76". Empty when the field is empty or missing. */
export function numbersIn(text: string | undefined): (number | null)[] {
  const parts = text?.split(/\s+/, most).filter((part) => part !== "") ?? [];
  return parts.map((part) => (/^-?\d{1,15}(?:\.\d{0,9})?$/.test(part) ? Number(part) : null));
}

/** Far more than chips on a board. */
const most = 1_024;
