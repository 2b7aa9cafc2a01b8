import { createInterface } from "node:readline/promises";
import type { Readable, Writable } from "node:stream";

/** Asks a question on a terminal; only "y" and "yes" agree. Ctrl-C, Ctrl-D and anything else do not. */
export async function confirm(question: string, input: Readable, output: Writable): Promise<boolean> {
  const terminal = createInterface({ input, output });
  const ended = Promise.withResolvers<string>();
  terminal.once("close", () => ended.resolve(""));
  terminal.once("SIGINT", () => terminal.close());
  try {
    const answer = await Promise.race([terminal.question(`${question} [y/N] `), ended.promise]);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}
