import { fraction } from "./random.ts";

/** Damage to replies by broken firmware. Each function takes a JSON text and returns the damaged one. */

/** Omits the commas between records: `}{`. Unchanged where the reply has only one record. */
export const withoutCommas = (text: string): string => text.replace(/\}\s*,\s*\{/g, "}{");

export const withTrailingCommas = (text: string): string => text.replace(/(?<=[^[{,\s])(\s*[}\]])/g, ",$1");

/** As C prints 0/0. */
export function withNan(text: string): string {
  const words = ["nan", "inf", "-nan"];
  let count = 0;
  return text.replace(
    /("(?:Device Hardware%|Device Rejected%|Pool Stale%|errorPercentage|avg_time)":\s*)-?[\d.]+/g,
    (_, key: string) => `${key}${words[count++ % words.length]}`,
  );
}

export const withMark = (text: string): string => `\uFEFF${text}\r\n`;

/** In the middle of the first string value that is long enough. */
export const withNulInside = (text: string): string => text.replace(/(":\s*"[\w ]{2})(?=[\w ]{2})/, "$1\0");

/** é as a Latin-1 byte, in the first user of a pool. */
export const withLatin1 = (text: string): Buffer =>
  Buffer.from(text.replace(/("(?:User|stratumUser|user|worker_id)":\s*")/, "$1\u00e9"), "latin1");

/** More than a megabyte, still valid JSON where the reply is an object. */
export const huge = (text: string): string => text.replace("{", `{"padding":"${"x".repeat(1_500_000)}",`);

export const deep = (text: string): string => text.replace("{", `{"deep":${"[".repeat(10_000)}${"]".repeat(10_000)},`);

/** Numbers become objects, strings and nulls, strings become numbers; `STATUS` stays valid. */
export function withWrongTypes(text: string): string {
  const instead = ["{}", "null", '"many"', "[]"];
  let count = 0;
  return text.replace(/("(?!STATUS|Code|When|Msg)[^"]+":\s*)(-?[\d.]+|"[^"]*")/g, (_, key: string, value: string) =>
    value.startsWith('"') ? `${key}42` : `${key}${instead[count++ % instead.length]}`,
  );
}

/** The same each time. */
export const garbage = (length: number): Buffer =>
  Buffer.from(Uint8Array.from({ length }, (_, index) => fraction(length, index) * 256));

/** 200,000 devices, 12 MB. */
export const withManyDevices = (text: string): string =>
  text.replace("{", `{"DEVS":[${'{"ASC":0,"Name":"BTM","ID":0,"Enabled":"Y","Status":"Alive"},'.repeat(200_000)}{}],`);

/** Every number twice, first a wrong one; JSON parsers take the last. */
export const withDuplicateKeys = (text: string): string =>
  text.replace(/("[^"]+":)\s*(-?[\d.]+)(?=\s*[,}])/g, "$10,$1$2");

/** Keys with a meaning in JavaScript, in every object. */
export const withPrototypeKeys = (text: string): string =>
  text
    .replaceAll(
      "{",
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":"x","hasOwnProperty":1,',
    )
    .replace(/,(?=\s*\})/g, "");

/** Numbers as "61.00", and measurements with their unit. */
export const withNumbersAsText = (text: string): string =>
  text.replace(/"([^"]+)":\s*(-?\d+(?:\.\d+)?)(?=\s*[,}])/g, (_, key: string, number: string) => {
    const unit = /^temp|temperature/i.test(key) ? " C" : /^fan\d|rpm$/i.test(key) ? " RPM" : "";
    return `"${key}":"${number}${unit}"`;
  });

/** Absurdly large, negative, and beyond the range of numbers. */
export function withAbsurdNumbers(text: string): string {
  const instead = ["1e308", "-1", "9223372036854775808", "1e400", "-1e-320"];
  let count = 0;
  return text.replace(
    /("(?!STATUS|Code|When)[^"]+":\s*)-?\d+(?:\.\d+)?(?=\s*[,}\]])/g,
    (_, key: string) => `${key}${instead[count++ % instead.length]}`,
  );
}

/** Unusual names of users, workers and the rig. */
const named = /("(?:User|stratumUser|user|worker_id|hostname|Name|ASICModel)":\s*")/g;

export const withAccent = (text: string): string => text.replace(named, "$1\u00e9");

/** Terminal escapes and a bell, a right-to-left mark, a line break, and a script for a page. */
export const withHostileNames = (text: string): string =>
  text.replace(named, "$1\\u001b[31m\\u0007\\u202e\\r\\n<script>alert(1)</script>$(id)'\\\";");

/** MQTT wildcards. */
export const withWildcards = (text: string): string => text.replace(named, "$1farm/+/#/");

/** Alternately ten years back and ten years ahead. */
export const withOtherClock = (text: string, turn: number): string =>
  text.replace(/("When":\s*)(\d+)/g, (_, key: string, when: string) => {
    return `${key}${Number(when) + (turn % 2 === 0 ? -1 : 1) * 315_360_000}`;
  });

/** Counters are reset in every second answer. */
export const withResetCounters = (text: string, turn: number): string =>
  turn % 2 === 0
    ? text
    : text.replace(
        /("(?:Accepted|Rejected|Stale|Hardware Errors|Difficulty Accepted|sharesAccepted|sharesRejected|shares_good|shares_total)":\s*)[\d.]+/g,
        "$10",
      );

/** A TLS server's reply to a client without TLS: a fatal alert, "unexpected message". */
export const tlsAlert = Buffer.from([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x0a]);

/** Another device at the address. In cgminer nothing identifies the device. */
export const withOtherIdentity = (text: string): string =>
  text
    .replace(/("(?:macAddr|MAC)":\s*")[^"]*/g, "$102:51:FF:FF:FF:FF")
    .replace(/("id":\s*")[0-9a-f]{16}/g, "$1ffffffffffffffff");

/** Ten years more in every second answer, as after the rig's clock was set. */
export const withOtherUptime = (text: string, turn: number): string =>
  turn % 2 === 0
    ? text
    : text.replace(/("(?:Elapsed|uptimeSeconds|uptime)":\s*)(\d+)/g, (_, key: string, seconds: string) => {
        return `${key}${Number(seconds) + 315_360_000}`;
      });

/** Numbers as very long texts that begin with digits, and very long texts. */
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

/** 20,000 unknown keys. */
export const withManyKeys = (text: string): string =>
  text.replace("{", `{${Array.from({ length: 20_000 }, (_, index) => `"key ${index}":${index},`).join("")}`);

/** Unpaired surrogates, which are not valid in UTF-8. */
export const withHalfCharacters = (text: string): string => text.replace(named, "$1\\ud800\\udc00\\udbff");
