import { RigbridgeError } from "../src/contract/problems.ts";

/** The code and paths of the error, as `code path path`; "done" if the promise resolves. */
export async function refusal(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof RigbridgeError) return [error.code, ...error.errors.map(({ path }) => path)].join(" ");
    throw error;
  }
  return "done";
}

/** The error that the promise rejects with. */
export async function problem(promise: Promise<unknown>): Promise<RigbridgeError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof RigbridgeError) return error;
    throw error;
  }
  throw new Error("the operation succeeded");
}
