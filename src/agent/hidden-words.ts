import type { MiningProgram } from "../catalogue/mining-program.ts";
import { isOption } from "../catalogue/parameters.ts";

export const hidden = "***";

/** Options of any program whose value is a secret. */
const secretName = /pass|psw|pwd|token|secret|key$/i;

/** The user's words with `***` in place of the values of password options, of logins in URLs, and of known secrets. */
export function withoutSecretValues(
  entry: MiningProgram,
  words: readonly string[],
  secrets: readonly string[],
): string[] {
  const names = secretOptions(entry);
  const isSecret = (option: string): boolean => names.has(option) || secretName.test(option);
  // Shorter ones would hide ordinary words; they are hidden behind their options.
  const known = secrets.filter((secret) => secret.length >= 4);
  let valueFollows = false;
  return words.map((word) => {
    const isValue = valueFollows;
    const [, option = word, separator] = /^(-+[^=:]+)([=:])/.exec(word) ?? [];
    valueFollows = !isValue && isOption(word) && separator === undefined && isSecret(option);
    if (isValue) return hidden;
    if (!isOption(word)) return masked(word, known);
    if (separator !== undefined && isSecret(option)) return `${option}${separator}${hidden}`;
    const short = /^-[^-]/.exec(word)?.[0] ?? "";
    if (entry.options === "getopt" && short !== "" && word !== short && isSecret(short)) return `${short}${hidden}`;
    return masked(word, known);
  });
}

/** Options that the command line itself gives a password or token. */
function secretOptions({ command }: MiningProgram): ReadonlySet<string> {
  const groups = [...command.api, ...command.pool, ...(command.spare ?? []), ...(command.dual ?? [])];
  const names = groups.flatMap(({ args }) =>
    args.flatMap((arg, at) => {
      if (!/\{(password|passwordUrl|apiToken)\}/.test(arg)) return [];
      return isOption(arg) ? [arg.replace(/=.*/s, "")] : [args[at - 1] ?? ""];
    }),
  );
  const others = [...command.start, ...command.pool].flatMap(({ args }) => args);
  // -O: user:password of programs in the tradition of cpuminer. -p: the pool's address for BzMiner.
  return new Set([...names, "-O", ...(others.includes("-p") ? [] : ["-p"])]);
}

const masked = (word: string, secrets: readonly string[]): string =>
  secrets.reduce(
    (text, secret) => text.replaceAll(secret, hidden),
    word.replace(/(:\/\/[^/@]*?:)[^/]*@/, `$1${hidden}@`),
  );
