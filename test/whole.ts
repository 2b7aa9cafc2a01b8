import { test } from "@jest/globals";

/**
 * Whether this is `npm run torture -- whole`, which also runs what is long and has a short representative in `npm test`.
 * Such tests are marked where they stand, so that both are read and changed together.
 */
export const isWhole = process.env.TEST_WHOLE === "true";

/** A test that only `npm run torture -- whole` runs. */
export const longTest = isWhole ? test : test.skip;
