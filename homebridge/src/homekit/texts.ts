/** UTF-16 units of a text, as HAP-NodeJS counts; it complains of more, and may cut a character in two. */
const longest = 64;

/**
 * A name as HomeKit takes it: letters, numbers, blanks, apostrophes and common punctuation, at both ends a letter or a
 * number, at least two characters and 64 UTF-16 units at most. `spare` where nothing is left.
 */
export function homeKitName(name: string, spare: string): string {
  const plain = trimmed(
    name
      .normalize("NFC")
      .replace(/[^\p{L}\p{N}’'&!._:;()/,-]+/gu, " ")
      .trim(),
  );
  const short = trimmed(cut(plain, longest));
  if ([...short].length > 1) return short;
  return short === "" ? spare : `${spare} ${short}`;
}

/** What a part of something is called that has such a name: of a long one less is left, so that parts differ. */
export const partName = (name: string, part: string): string =>
  `${trimmed(cut(name, longest - part.length - 1))} ${part}`;

/** No character is cut in two. */
const cut = (text: string, length: number): string => text.slice(0, length).replace(/[\uD800-\uDBFF]$/, "");

/** Without what stands at its ends and is neither a letter nor a number. */
const trimmed = (text: string): string => text.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "");

/** A text of the accessory's information: Homebridge takes none of one character or of more than 64 UTF-16 units. */
export function informationText(text: string, spare: string): string {
  const plain = cut(text.replace(/\p{Cc}+/gu, " ").trim(), longest);
  return plain.length > 1 ? plain : spare;
}

/** The first number of up to three parts that stands in it, as HomeKit wants firmware versions. */
export const versionIn = (text: string): string => /\d{1,9}(?:\.\d{1,9}){0,2}/.exec(text)?.[0] ?? "0";
