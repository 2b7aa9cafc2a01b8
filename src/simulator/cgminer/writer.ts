/**
 * Writes the section of a reply as records of fields, either as JSON or as the older plain text of the protocol
 * (`SECTION,key=value,...|`). Numbers have the same digits as those of the real program.
 */
export abstract class Writer {
  /** Joined once at the end: string concatenation makes ten times as much garbage. */
  protected readonly parts: string[] = [];

  /** Begins the next record. */
  abstract record(): void;
  abstract text(key: string, value: string): void;
  /** A value that is already formatted. */
  protected abstract field(key: string, value: string): void;
  /** Everything that was written. */
  abstract end(): string;

  int(key: string, value: number): void {
    this.field(key, String(Math.trunc(value)));
  }

  fixed(key: string, value: number, digits: number): void {
    this.field(key, fixed(value, digits));
  }

  flag(key: string, value: boolean): void {
    this.field(key, value ? "true" : "false");
  }
}

/** `{...},{...}` */
export class JsonWriter extends Writer {
  #before = "";

  record(): void {
    this.parts.push(this.parts.length === 0 ? "{" : "},{");
    this.#before = '"';
  }

  text(key: string, value: string): void {
    this.field(key, JSON.stringify(value));
  }

  end(): string {
    return this.parts.length === 0 ? "" : `${this.parts.join("")}}`;
  }

  protected field(key: string, value: string): void {
    this.parts.push(this.#before, key, '":', value);
    this.#before = ',"';
  }
}

/** `SUMMARY,k=v,...|`, or `POOL=0,k=v,...|POOL=1,...|` where records carry their own number. */
export class TextWriter extends Writer {
  readonly #title: string;
  #before = "";

  /** Without a title records carry their own number. */
  constructor(title: string) {
    super();
    this.#title = title;
  }

  record(): void {
    if (this.parts.length > 0) this.parts.push("|");
    this.parts.push(this.#title);
    this.#before = this.#title === "" ? "" : ",";
  }

  text(key: string, value: string): void {
    this.field(key, escaped(value));
  }

  end(): string {
    return this.parts.length === 0 ? "" : `${this.parts.join("")}|`;
  }

  protected field(key: string, value: string): void {
    this.parts.push(this.#before, key, "=", value);
    this.#before = ",";
  }
}

/** Escapes the four special characters of plain text. */
export const escaped = (value: string): string => value.replace(/[|,=\\]/g, "\\$&");

const decimals = Array.from({ length: 9 }, (_, digits) => (0).toFixed(digits).slice(1));

/** Most numbers are whole, and formatting them is most of the work of making a reply. */
const fixed = (value: number, digits: number): string =>
  Number.isInteger(value) ? `${value}${decimals[digits] ?? ""}` : value.toFixed(digits);
