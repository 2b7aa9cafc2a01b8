import { fraction } from "./random.ts";

/** What broken firmware does to the text of a reply. Each takes a whole JSON text and returns what is sent instead. */

/** Separators between records forgotten: `}{`. Untouched where the reply has only one record. */
export const withoutCommas = (text: string): string => text.replace(/\}\s*,\s*\{/g, "}{");

export const withTrailingCommas = (text: string): string => text.replace(/(?<=[^[{,\s])(\s*[}\]])/g, ",$1");

/** What C prints for a ratio of nothing to nothing. */
export function withNan(text: string): string {
  const words = ["nan", "inf", "-nan"];
  let count = 0;
  return text.replace(
    /("(?:Device Hardware%|Device Rejected%|Pool Stale%|errorPercentage|avg_time)":\s*)-?[\d.]+/g,
    (_, key: string) => `${key}${words[count++ % words.length]}`,
  );
}

export const withMark = (text: string): string => `\uFEFF${text}\r\n`;

/** In the middle of the first string value that has a middle. */
export const withNulInside = (text: string): string => text.replace(/(":\s*"[\w ]{2})(?=[\w ]{2})/, "$1\0");

/** An e-acute as one byte, in the first pool user. */
export const withLatin1 = (text: string): Buffer =>
  Buffer.from(text.replace(/("(?:User|stratumUser|user|worker_id)":\s*")/, "$1\u00e9"), "latin1");

/** More than a megabyte, still valid JSON where the reply is an object. */
export const huge = (text: string): string => text.replace("{", `{"padding":"${"x".repeat(1_500_000)}",`);

export const deep = (text: string): string => text.replace("{", `{"deep":${"[".repeat(10_000)}${"]".repeat(10_000)},`);

/** Numbers become objects, words and nulls, strings become numbers; what `STATUS` says stays readable. */
export function withWrongTypes(text: string): string {
  const instead = ["{}", "null", '"many"', "[]"];
  let count = 0;
  return text.replace(/("(?!STATUS|Code|When|Msg)[^"]+":\s*)(-?[\d.]+|"[^"]*")/g, (_, key: string, value: string) =>
    value.startsWith('"') ? `${key}42` : `${key}${instead[count++ % instead.length]}`,
  );
}

/** The same every time. */
export const garbage = (length: number): Buffer =>
  Buffer.from(Uint8Array.from({ length }, (_, index) => fraction(length, index) * 256));

/** 200,000 of them, 12 MB. */
export const withManyDevices = (text: string): string =>
  text.replace("{", `{"DEVS":[${'{"ASC":0,"Name":"BTM","ID":0,"Enabled":"Y","Status":"Alive"},'.repeat(200_000)}{}],`);

/** Every number twice, first wrong; JSON takes the last. */
export const withDuplicateKeys = (text: string): string =>
  text.replace(/("[^"]+":)\s*(-?[\d.]+)(?=\s*[,}])/g, "$10,$1$2");

/** Names that mean something to JavaScript, in every object. */
export const withPrototypeKeys = (text: string): string =>
  text
    .replaceAll(
      "{",
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":"x","hasOwnProperty":1,',
    )
    .replace(/,(?=\s*\})/g, "");

/** "61.00", and what measures something with its unit. */
export const withNumbersAsText = (text: string): string =>
  text.replace(/"([^"]+)":\s*(-?\d+(?:\.\d+)?)(?=\s*[,}])/g, (_, key: string, number: string) => {
    const unit = /^temp|temperature/i.test(key) ? " C" : /^fan\d|rpm$/i.test(key) ? " RPM" : "";
    return `"${key}":"${number}${unit}"`;
  });

/** Further than any rig can count, below nothing, and beyond what a number can hold. */
export function withAbsurdNumbers(text: string): string {
  const instead = ["1e308", "-1", "9223372036854775808", "1e400", "-1e-320"];
  let count = 0;
  return text.replace(
    /("(?!STATUS|Code|When)[^"]+":\s*)-?\d+(?:\.\d+)?(?=\s*[,}\]])/g,
    (_, key: string) => `${key}${instead[count++ % instead.length]}`,
  );
}

/** What people are called in: who mines for whom, and the rig itself. */
const named = /("(?:User|stratumUser|user|worker_id|hostname|Name|ASICModel)":\s*")/g;

export const withAccent = (text: string): string => text.replace(named, "$1\u00e9");

/** Colours and a bell for a terminal, a mark that turns text round, a line end, and a script for a page. */
export const withHostileNames = (text: string): string =>
  text.replace(named, "$1\\u001b[31m\\u0007\\u202e\\r\\n<script>alert(1)</script>$(id)'\\\";");

/** What MQTT takes for a pattern. */
export const withWildcards = (text: string): string => text.replace(named, "$1farm/+/#/");

/** Ten years back and ten years on, in turn. */
export const withOtherClock = (text: string, turn: number): string =>
  text.replace(/("When":\s*)(\d+)/g, (_, key: string, when: string) => {
    return `${key}${Number(when) + (turn % 2 === 0 ? -1 : 1) * 315_360_000}`;
  });

/** With every second answer all that was counted begins again. */
export const withResetCounters = (text: string, turn: number): string =>
  turn % 2 === 0
    ? text
    : text.replace(
        /("(?:Accepted|Rejected|Stale|Hardware Errors|Difficulty Accepted|sharesAccepted|sharesRejected|shares_good|shares_total)":\s*)[\d.]+/g,
        "$10",
      );

/** What a TLS server says to somebody who does not speak TLS: a fatal alert, "unexpected message". */
export const tlsAlert = Buffer.from([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x0a]);

/** Another device at the address. cgminer does not say which device it is. */
export const withOtherIdentity = (text: string): string =>
  text
    .replace(/("(?:macAddr|MAC)":\s*")[^"]*/g, "$102:51:FF:FF:FF:FF")
    .replace(/("id":\s*")[0-9a-f]{16}/g, "$1ffffffffffffffff");

/** Ten years longer with every second answer, as where the clock of the rig was set. */
export const withOtherUptime = (text: string, turn: number): string =>
  turn % 2 === 0
    ? text
    : text.replace(/("(?:Elapsed|uptimeSeconds|uptime)":\s*)(\d+)/g, (_, key: string, seconds: string) => {
        return `${key}${Number(seconds) + 315_360_000}`;
      });

/** Numbers as texts that begin like one and go on for long, and texts without an end in sight. */
export function withLongTexts(text: string): string {
  const number = `1${" ".repeat(20_000)}x`;
  const word = "w".repeat(20_000);
  let room = 20;
  return text.replace(
    /("(?!STATUS|Code|When|Msg)[^"]+":\s*)(-?\d+(?:\.\d+)?|"[^"]*")(?=\s*[,}])/g,
    (all, key: string, value: string) => {
      room -= 1;
      if (room < 0) return all;
      return value.startsWith('"') ? `${key}"${value.slice(1, -1)}${word}"` : `${key}"${number}"`;
    },
  );
}

/** 20,000 keys that nobody knows. */
export const withManyKeys = (text: string): string =>
  text.replace("{", `{${Array.from({ length: 20_000 }, (_, index) => `"key ${index}":${index},`).join("")}`);

/** Halves of characters, which no UTF-8 can hold. */
export const withHalfCharacters = (text: string): string => text.replace(named, "$1\\ud800\\udc00\\udbff");
