import type { z } from "zod";
import type { Finding } from "./document.ts";
import { knownKeys } from "./json-schema.ts";
import { findingsIn, unknownKeySentence } from "./sentence.ts";

/** What zod found in the configuration file. */
export const findingsOf = (issues: readonly z.core.$ZodIssue[]): Finding[] =>
  findingsIn(issues, (path, key) => ({ path: [...path, key], message: unknownKeySentence(key, knownKeys(path)) }));
