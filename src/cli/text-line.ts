import { isRecord } from "../contract/record.ts";

const levels: Readonly<Record<number, string>> = {
  10: "TRACE",
  20: "DEBUG",
  30: "INFO",
  40: "WARN",
  50: "ERROR",
  60: "FATAL",
};

/** Fields of each line that journald and Docker have themselves. */
const left: ReadonlySet<string> = new Set(["level", "time", "msg", "pid", "hostname"]);

/**
 * A JSON line of pino as one line of text: time in UTC, level, message, fields. Control characters are escaped, so that a
 * rig's text cannot start a line of its own.
 */
export function textLine(json: string): string {
  const record: unknown = JSON.parse(json);
  if (!isRecord(record)) return escaped(json);
  const { time, level, msg } = record;
  const fields = Object.entries(record).filter(([name]) => !left.has(name));
  return [
    new Date(Number(time)).toISOString(),
    (levels[Number(level)] ?? String(level)).padEnd(5),
    ...(typeof msg === "string" && msg !== "" ? [escaped(msg)] : []),
    ...fields.map(([name, value]) => `${escaped(name)}=${valueText(value)}`),
  ].join(" ");
}

/** Quoted unless it is a plain word or number. */
const valueText = (value: unknown): string =>
  typeof value === "string" && /^[\w.:/@+-]+$/.test(value) ? value : escaped(JSON.stringify(value));

const escaped = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => names[character] ?? unicodeEscape(character));

const names: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

const unicodeEscape = (character: string): string => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
