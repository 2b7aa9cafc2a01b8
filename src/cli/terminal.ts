import type { WriteStream } from "node:tty";
import type { ScreenSize } from "./watch-screen.ts";

/** ms between two drawings, however often something changes. */
const leastMs = 500;

// xterm's control sequences (invisible-island.net/xterm/ctlseqs): its other screen, without a cursor and without wrapping.
const enter = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l";
const leave = "\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l";
const home = "\u{1b}[H";
const clearLine = "\u{1b}[K";
const clearRest = "\u{1b}[J";

/** Redraws the whole screen, at most twice a second, and restores the terminal when it is closed or the process ends. */
export class Terminal {
  readonly #output: WriteStream;
  readonly #lines: (size: ScreenSize) => readonly string[];
  #timer: NodeJS.Timeout | undefined;
  #drawnAt = Number.NEGATIVE_INFINITY;
  readonly #onResize = () => this.redraw();
  /** After Ctrl-Z and `fg`, the shell has its own screen. */
  readonly #onContinue = () => {
    this.#output.write(enter);
    this.redraw();
  };
  readonly #onExit = () => this.#output.write(leave);

  constructor(output: WriteStream, lines: (size: ScreenSize) => readonly string[]) {
    this.#output = output;
    this.#lines = lines;
    output.write(enter);
    output.on("resize", this.#onResize);
    process.on("SIGCONT", this.#onContinue);
    process.on("exit", this.#onExit);
  }

  /** Soon; calls in between are one drawing. */
  redraw(): void {
    this.#timer ??= setTimeout(() => this.#draw(), Math.max(0, this.#drawnAt + leastMs - performance.now()));
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#output.off("resize", this.#onResize);
    process.off("SIGCONT", this.#onContinue);
    process.off("exit", this.#onExit);
    this.#output.write(leave);
  }

  #draw(): void {
    this.#timer = undefined;
    this.#drawnAt = performance.now();
    const { columns = 80, rows = 24 } = this.#output;
    const lines = this.#lines({ columns, rows }).slice(0, rows);
    this.#output.write(home + lines.map((line) => line + clearLine).join("\r\n") + clearRest);
  }
}
