import { getState } from "jest-circus";

type CleanUp = () => unknown;

const cleanUps: CleanUp[] = [];

/** Runs after the current test and its `afterEach`, last registered first, also if the test fails. For helpers of tests. */
export function onTestFinished(cleanUp: CleanUp): void {
  if ((getState().currentlyRunningTest ?? null) === null) throw new Error("onTestFinished is for use inside a test.");
  cleanUps.push(cleanUp);
}

/** Called by the runner after each test. Every clean-up runs; fails if one of them did. */
export async function finish(): Promise<void> {
  const errors: unknown[] = [];
  for (const cleanUp of cleanUps.splice(0).reverse())
    try {
      await cleanUp();
    } catch (error) {
      errors.push(error);
    }
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors, "Several clean-ups of the test failed.");
}
