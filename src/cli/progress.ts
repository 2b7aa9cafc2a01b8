import { printable } from "./table.ts";

/** ms between two lines where the output is no terminal, and between two pictures where it is one. */
const lineEvery = 5_000;
const pictureEvery = 100;
const barWidth = 24;

/** How far something is, on stderr: a bar that moves on a terminal, else a line now and then. */
export class ProgressBar {
  readonly #stream = process.stderr;
  #shownAt = this.#stream.isTTY ? Number.NEGATIVE_INFINITY : performance.now();

  /** `share` is from 0 to 1. */
  show(share: number, text: string): void {
    const { isTTY } = this.#stream;
    // Some terminals do not say how wide they are.
    const columns = this.#stream.columns || 80;
    const now = performance.now();
    if (now - this.#shownAt < (isTTY ? pictureEvery : lineEvery)) return;
    this.#shownAt = now;
    if (isTTY) this.#stream.write(`\r${[...barText(share, text)].slice(0, columns - 1).join("")}\u{1b}[K`);
    else this.#stream.write(`${percent(share)}, ${printable(text)}\n`);
  }

  /** Leaves the line empty for what comes next. */
  clear(): void {
    if (this.#stream.isTTY) this.#stream.write("\r\u{1b}[K");
  }
}

function barText(share: number, text: string): string {
  const full = Math.floor(share * barWidth);
  return `${"█".repeat(full)}${"░".repeat(barWidth - full)}  ${percent(share).padStart(5)}  ${printable(text)}`;
}

const percent = (share: number): string => `${Math.floor(share * 100)} %`;
