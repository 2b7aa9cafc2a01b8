/**
 * A name as HomeKit takes it: letters, numbers, blanks, apostrophes and common punctuation, at both ends a letter or a
 * number, at least two characters and 64 at most. `spare` where nothing is left.
 */
export function homeKitName(name: string, spare: string): string {
  const plain = trimmed(
    name
      .normalize("NFC")
      .replace(/[^\p{L}\p{N}’'&!._:;()/,-]+/gu, " ")
      .trim(),
  );
  const short = trimmed([...plain].slice(0, 64).join(""));
  if ([...short].length > 1) return short;
  return short === "" ? spare : `${spare} ${short}`;
}

/** What does not begin or end with a letter or a number. */
const trimmed = (text: string): string => text.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "");

/** A text of the accessory's information: Homebridge takes none of one character or of more than 64. */
export function informationText(text: string, spare: string): string {
  const plain = [...text.replace(/\p{Cc}+/gu, " ").trim()].slice(0, 64).join("");
  return plain.length > 1 ? plain : spare;
}

/** The first number of up to three parts that stands in it, as HomeKit wants firmware versions. */
export const versionIn = (text: string): string => /\d{1,9}(?:\.\d{1,9}){0,2}/.exec(text)?.[0] ?? "0";
