import { RigbridgeError } from "../src/contract/problems.ts";

/** What was thrown, as `code path path`; "done" when nothing was. */
export async function refusal(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof RigbridgeError) return [error.code, ...error.errors.map(({ path }) => path)].join(" ");
    throw error;
  }
  return "done";
}

/** The error itself. */
export async function problem(promise: Promise<unknown>): Promise<RigbridgeError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof RigbridgeError) return error;
    throw error;
  }
  throw new Error("the operation succeeded");
}
