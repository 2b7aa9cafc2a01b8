import { RigbridgeError } from "../contract/problems.ts";

/** Runs a command; when it fails it says why on stderr, every mistake on a line of its own, and the exit code is 1. */
export function failing<A extends unknown[]>(command: (...args: A) => Promise<void>): (...args: A) => Promise<void> {
  return async (...args) => {
    try {
      await command(...args);
    } catch (error) {
      console.error(failureText(error));
      process.exitCode = 1;
    }
  };
}

/** For people: no stack, unless LOG_LEVEL is debug or trace. */
export function failureText(error: unknown): string {
  const verbose = process.env.LOG_LEVEL === "debug" || process.env.LOG_LEVEL === "trace";
  if (verbose && error instanceof Error) return [...mistakes(error), error.stack ?? error.message].join("\n");
  return [error instanceof Error ? error.message : String(error), ...mistakes(error)].join("\n");
}

/** A single mistake that the message tells already is not told twice. */
function mistakes(error: unknown): string[] {
  if (!(error instanceof RigbridgeError)) return [];
  return error.errors
    .map(({ path, message }) => `${path}: ${message}`)
    .filter((line) => line !== error.message)
    .map((line) => `  ${line}`);
}
