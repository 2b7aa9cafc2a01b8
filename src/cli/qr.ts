import { renderUnicodeCompact } from "uqr";

/** White on black in every theme of a terminal, as cameras expect it. */
const onBlack = "\u{1b}[97;40m";
const reset = "\u{1b}[0m";

/** A text as a QR code for a terminal, two rows of squares on each line. */
export const qrLines = (text: string, coloured: boolean): string[] =>
  renderUnicodeCompact(text, { border: 2 })
    .split("\n")
    .map((line) => (coloured ? `${onBlack}${line}${reset}` : line));
