import { test } from "@jest/globals";
import { isInServer } from "./any-store.ts";

/** A test that looks into the file of a store, or damages it. */
export const testOfFile: typeof test = isInServer ? Object.assign(() => undefined, test) : test;
