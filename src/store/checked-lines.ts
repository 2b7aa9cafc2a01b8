import { crc32 } from "node:zlib";

/** A value as a line of a file that a killed process may have cut. */
export const checkedLine = (value: unknown): string => {
  const json = JSON.stringify(value);
  return `${checksum(json)} ${json}\n`;
};

/** The values of such a file, and the number of lines that are not whole. */
export const checkedValues = (text: string): { readonly values: readonly unknown[]; readonly damaged: number } => {
  const lines = text.split("\n");
  // Every line that was written whole ends with a line break.
  const broken = lines.pop() === "" ? 0 : 1;
  const whole = lines.filter((line) => line.slice(0, 9) === `${checksum(line.slice(9))} `);
  const values = whole.map((line): unknown => JSON.parse(line.slice(9)));
  return { values, damaged: broken + lines.length - whole.length };
};

const checksum = (text: string): string => crc32(text).toString(16).padStart(8, "0");
