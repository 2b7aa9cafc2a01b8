import { RigbridgeError } from "../contract/problems.ts";

/** Runs a command; a failure is printed on stderr, every mistake on its own line, and the exit code is 1. */
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

/** Without a stack, unless LOG_LEVEL is debug or trace. */
function failureText(error: unknown): string {
  const verbose = process.env.LOG_LEVEL === "debug" || process.env.LOG_LEVEL === "trace";
  if (verbose && error instanceof Error) return [...mistakes(error), error.stack ?? error.message].join("\n");
  return [error instanceof Error ? error.message : String(error), ...mistakes(error)].join("\n");
}

/** Without a mistake that is the message itself. */
function mistakes(error: unknown): string[] {
  if (!(error instanceof RigbridgeError)) return [];
  return error.errors
    .map(({ path, message }) => `${path}: ${message}`)
    .filter((line) => line !== error.message)
    .map((line) => `  ${line}`);
}
