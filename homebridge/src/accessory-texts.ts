import type { Miner } from "rigbridge";

/** Most UTF-16 units of a text: HAP-NodeJS complains about longer ones and may cut a character in two. */
const maxLength = 64;

/**
 * A name as HomeKit accepts it: letters, digits, spaces, apostrophes and common punctuation, starting and ending with a
 * letter or digit, 2 to 64 UTF-16 units. `fallback` if nothing is left.
 */
export function homeKitName(name: string, fallback: string): string {
  const plain = trimmed(
    name
      .normalize("NFC")
      .replace(/[^\p{L}\p{N}’'&!._:;()/,-]+/gu, " ")
      .trim(),
  );
  const short = trimmed(cut(plain, maxLength));
  if ([...short].length > 1) return short;
  return short === "" ? fallback : `${fallback} ${short}`;
}

/** The name of a part of an accessory; the accessory's own name is shortened so that the part's name fits. */
export const partName = (name: string, part: string): string =>
  `${trimmed(cut(name, maxLength - part.length - 1))} ${part}`;

/** Cuts no character in two. */
const cut = (text: string, length: number): string => text.slice(0, length).replace(/[\uD800-\uDBFF]$/, "");

/** Starts and ends with a letter or digit. */
const trimmed = (text: string): string => text.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, "");

/** The identity of an accessory or device. */
export interface Information {
  readonly manufacturer: string;
  readonly model: string;
  readonly serial: string;
  readonly firmware: string;
}

/** Of a rig. */
export const rigInformation = ({ identity, hardware, uid }: Miner): Information => ({
  manufacturer: informationText(identity?.make ?? "", "Rigbridge"),
  model: informationText(identity?.model ?? hardware, "Mining rig"),
  serial: informationText(identity?.serial ?? uid ?? "", "unknown"),
  firmware: versionIn(identity?.firmware ?? ""),
});

/** The identity of an accessory that is not a rig. */
export const ownInformation = (model: string, serial: string): Information => ({
  manufacturer: "Rigbridge",
  model,
  serial,
  firmware: "0",
});

/** A text of the accessory information: Homebridge accepts 2 to 64 UTF-16 units. */
export function informationText(text: string, fallback: string): string {
  const plain = cut(text.replace(/\p{Cc}+/gu, " ").trim(), maxLength);
  return plain.length > 1 ? plain : fallback;
}

/** The first number of up to three parts, as HomeKit requires of firmware versions. */
export const versionIn = (text: string): string => /\d{1,9}(?:\.\d{1,9}){0,2}/.exec(text)?.[0] ?? "0";
