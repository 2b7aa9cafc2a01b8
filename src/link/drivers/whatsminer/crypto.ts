import { createCipheriv, createDecipheriv, createHash } from "node:crypto";

/** The answer to `get_token` (API v2). */
export interface TokenSeed {
  readonly time: string;
  readonly salt: string;
  readonly newsalt: string;
}

/** What writes to API v2 are signed and encrypted with. */
export interface RpcSeal {
  /** Part of every write. */
  readonly sign: string;
  readonly key: Buffer;
}

/** The seal from a password and a token. */
export function rpcSeal(password: string, { time, salt, newsalt }: TokenSeed): RpcSeal {
  const hashed = md5crypt(password, salt);
  return { sign: md5crypt(hashed + time, newsalt), key: sha256(hashed) };
}

/** What a write to API v3 is signed and encrypted with; `ts` is in seconds. */
export function frameSeal(cmd: string, password: string, salt: string, ts: number): { token: string; key: Buffer } {
  const key = sha256(`${cmd}${password}${salt}${ts}`);
  return { token: key.toString("base64").slice(0, 8), key };
}

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();

const blockLength = 16;

/** AES-256-ECB in base64; the text is padded with zeros, as the firmware requires. */
export function encrypted(text: string, key: Buffer): string {
  const plain = Buffer.from(text);
  const padded = Buffer.alloc(Math.ceil(plain.length / blockLength) * blockLength);
  plain.copy(padded);
  const cipher = createCipheriv("aes-256-ecb", key, null).setAutoPadding(false);
  return Buffer.concat([cipher.update(padded), cipher.final()]).toString("base64");
}

/** The decrypted text; null for what cannot be a cipher text. */
export function decrypted(base64: string, key: Buffer): string | null {
  const bytes = Buffer.from(base64, "base64");
  if (bytes.length === 0 || bytes.length % blockLength !== 0) return null;
  const decipher = createDecipheriv("aes-256-ecb", key, null).setAutoPadding(false);
  const padded = Buffer.concat([decipher.update(bytes), decipher.final()]);
  const end = padded.indexOf(0);
  return padded.toString("utf8", 0, end === -1 ? padded.length : end);
}

const alphabet = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** Three bytes of the digest make four characters, in this order. */
const triples = [
  [0, 6, 12],
  [1, 7, 13],
  [2, 8, 14],
  [3, 9, 15],
  [4, 10, 5],
] as const;

/**
 * The hash of `$1$salt$hash`, 22 letters: the "md5crypt" of FreeBSD and glibc, from which the firmware derives its
 * keys. Written here, since node:crypto does not have it and no maintained package does.
 */
export function md5crypt(password: string, salt: string): string {
  const word = Buffer.from(password);
  const grain = Buffer.from(salt).subarray(0, 8);
  let digest = md5(word, Buffer.from("$1$"), grain, ...mixedIn(word, md5(word, grain, word)));
  for (let round = 0; round < 1000; round += 1) {
    const odd = round % 2 === 1;
    const parts = [odd ? word : digest];
    if (round % 3 !== 0) parts.push(grain);
    if (round % 7 !== 0) parts.push(word);
    parts.push(odd ? digest : word);
    digest = md5(...parts);
  }
  const at = (index: number): number => digest[index] ?? 0;
  const groups = triples.map(([a, b, c]) => letters((at(a) << 16) | (at(b) << 8) | at(c), 4));
  return `${groups.join("")}${letters(at(11), 2)}`;
}

/** As many bytes of the other digest as the password is long, then a byte for each bit of that length. */
function mixedIn(word: Buffer, other: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let left = word.length; left > 0; left -= other.length) parts.push(other.subarray(0, left));
  for (let bits = word.length; bits > 0; bits >>= 1) parts.push(bits % 2 === 1 ? Buffer.alloc(1) : word.subarray(0, 1));
  return parts;
}

function md5(...parts: readonly Buffer[]): Buffer {
  const hash = createHash("md5");
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** Six bits a letter, the lowest first. */
function letters(bits: number, count: number): string {
  return Array.from({ length: count }, (_, index) => alphabet[(bits >> (6 * index)) & 63]).join("");
}
