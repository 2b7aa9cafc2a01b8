import { garbled, limits, tooLarge } from "./limits.ts";

/** What the next bytes are: a line of the frame, or the body; `body` ends with its length, `rest` with the connection. */
type Part = "status" | "header" | "size" | "chunk end" | "trailer" | "chunk" | "body" | "rest" | "nothing";

/** Interim answers like "100 Continue" before the real one; none is requested. */
const mostInterimAnswers = 8;
/** Bytes around each byte of the body; a chunk of one byte has 5. */
const mostOverhead = 8;

const statusLine = /^HTTP\/\d\.\d +(\d{3})(?: |$)/;
const headerLine = /^([!#$%&'*+.^_`|~\w-]+)[ \t]*:[ \t]*(.*)$/;
const sizeLine = /^[ \t]*([\da-f]{1,8})[ \t]*(?:;|$)/i;
const lineFeed = 0x0a;

/**
 * Parses one HTTP/1 reply while its bytes arrive, in any chunks; bytes after it are ignored. Source: RFC 9112. Throws
 * `rig.garbled` for anything but HTTP, and for replies that are too large or have two lengths.
 */
export class HttpParser {
  status = 0;
  /** Names in small letters, repeated ones joined with commas. */
  headers: Record<string, string> = {};
  readonly #at: string;
  #part: Part = "status";
  /** Of the last header, which the next line may continue. */
  #name = "";
  /** The beginning of a line that is not complete yet. */
  #line = "";
  /** Bytes that are not of the body. */
  #overhead = 0;
  #interimAnswers = 0;
  /** Bytes until the body or its chunk ends. */
  #left = 0;
  readonly #body: Buffer[] = [];
  #length = 0;

  /** `at`: host:port, for messages. */
  constructor(at: string) {
    this.#at = at;
  }

  /** Takes the next bytes, which may be overwritten afterwards unless it returns true: then the reply is complete. */
  take(bytes: Buffer): boolean {
    const kept = this.#body.length;
    let at = 0;
    while (at < bytes.length && this.#part !== "nothing")
      at = this.#isInBody() ? this.#takeBody(bytes, at) : this.#takeLine(bytes, at);
    if (this.#part === "nothing") return true;
    for (let index = kept; index < this.#body.length; index += 1) {
      const part = this.#body[index];
      if (part !== undefined) this.#body[index] = Buffer.from(part);
    }
    return false;
  }

  /** The connection is closed; whether the reply is complete. */
  end(): boolean {
    return this.#part === "rest" || this.#part === "nothing";
  }

  /** The body of a complete reply; call it before the last bytes are overwritten. */
  body(): Buffer {
    const [first] = this.#body;
    return this.#body.length === 1 && first !== undefined ? first : Buffer.concat(this.#body, this.#length);
  }

  #isInBody(): boolean {
    return this.#part === "body" || this.#part === "rest" || this.#part === "chunk";
  }

  #takeBody(bytes: Buffer, start: number): number {
    const end = Math.min(bytes.length, start + this.#left);
    this.#body.push(bytes.subarray(start, end));
    this.#left -= end - start;
    this.#length += end - start;
    if (this.#length > limits.replyBytes) throw tooLarge(this.#at);
    if (this.#left === 0) this.#part = this.#part === "chunk" ? "chunk end" : "nothing";
    return end;
  }

  #takeLine(bytes: Buffer, start: number): number {
    const feed = bytes.indexOf(lineFeed, start);
    const end = feed === -1 ? bytes.length : feed;
    this.#line += bytes.toString("latin1", start, end);
    this.#overhead += end - start + (feed === -1 ? 0 : 1);
    if (this.#overhead > limits.headBytes + mostOverhead * this.#length) throw this.#tooMuchOverhead();
    // What speaks another protocol may wait for an answer before it ends its line.
    if (this.#part === "status" && !"HTTP/".startsWith(this.#line.trimStart().slice(0, 5))) throw this.#notHttp();
    if (feed === -1) return end;
    const line = this.#line.endsWith("\r") ? this.#line.slice(0, -1) : this.#line;
    this.#line = "";
    this.#readLine(line);
    return end + 1;
  }

  #readLine(line: string): void {
    if (this.#part === "status") this.#readStatus(line);
    else if (this.#part === "header" && line !== "") this.#readHeader(line);
    else if (this.#part === "header") this.#endHead();
    else if (this.#part === "size") this.#readSize(line);
    else if (this.#part === "trailer") this.#part = line === "" ? "nothing" : "trailer";
    else if (line === "") this.#part = "size";
    else throw this.#notHttp();
  }

  #readStatus(line: string): void {
    if (line.trim() === "") return;
    const status = statusLine.exec(line)?.[1];
    if (status === undefined) throw this.#notHttp();
    this.status = Number(status);
    this.headers = {};
    this.#name = "";
    this.#part = "header";
  }

  #readHeader(line: string): void {
    const [, name, value = ""] = headerLine.exec(line) ?? [];
    const continues = name === undefined && /^[ \t]/.test(line);
    this.#name = continues ? this.#name : (name?.toLowerCase() ?? "");
    if (this.#name === "") throw this.#notHttp();
    const before = Object.hasOwn(this.headers, this.#name) ? this.headers[this.#name] : undefined;
    const joined = before === undefined ? "" : `${before}${continues ? " " : ", "}`;
    this.headers[this.#name] = joined + (continues ? line : value).trim();
  }

  #endHead(): void {
    const { status } = this;
    if (status === 101) throw garbled(this.#at, "it switches to a protocol other than HTTP");
    if (status < 200) {
      this.#interimAnswers += 1;
      if (this.#interimAnswers > mostInterimAnswers) throw garbled(this.#at, "it sends too many interim answers");
      this.#part = "status";
    } else if (status === 204 || status === 304) this.#part = "nothing";
    else this.#beginBody();
  }

  #beginBody(): void {
    const { "content-length": length, "transfer-encoding": encoding } = this.headers;
    if (encoding !== undefined) {
      if (length !== undefined) throw garbled(this.#at, "it sends its reply with a length and in chunks");
      if (encoding.toLowerCase() !== "chunked") throw garbled(this.#at, "it encodes its reply in an unknown way");
      this.#part = "size";
    } else if (length !== undefined) this.#expect(this.#lengthOf(length), "body");
    else this.#expect(Number.POSITIVE_INFINITY, "rest");
  }

  /** One length may be written several times. */
  #lengthOf(written: string): number {
    const [length = "", ...others] = written.split(/[ \t]*,[ \t]*/);
    if (!/^\d{1,15}$/.test(length)) throw this.#notHttp();
    if (others.some((other) => other !== length)) throw garbled(this.#at, "it sends its reply with two lengths");
    return Number(length);
  }

  #readSize(line: string): void {
    const size = sizeLine.exec(line)?.[1];
    if (size === undefined) throw this.#notHttp();
    if (/^0+$/.test(size)) this.#part = "trailer";
    else this.#expect(Number.parseInt(size, 16), "chunk");
  }

  #expect(bytes: number, part: "body" | "rest" | "chunk"): void {
    if (Number.isFinite(bytes) && this.#length + bytes > limits.replyBytes) throw tooLarge(this.#at);
    this.#left = bytes;
    this.#part = bytes === 0 ? "nothing" : part;
  }

  #tooMuchOverhead(): Error {
    const isHead = this.#part === "status" || this.#part === "header";
    return isHead
      ? garbled(this.#at, `the head of the reply is larger than ${limits.headBytes / 1024} KB`)
      : tooLarge(this.#at);
  }

  #notHttp(): Error {
    return garbled(this.#at, "what answers there is not HTTP");
  }
}
