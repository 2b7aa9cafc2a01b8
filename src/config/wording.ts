import type { z } from "zod";
import { isRecord } from "../contract/record.ts";
import type { Finding, Path } from "./document.ts";
import { knownKeys } from "./json-schema.ts";
import { findingsIn, sentence, unknownKeySentence } from "./sentence.ts";

/** For zod: as other settings are told of, with what YAML wants. */
export const yamlSentence = (issue: z.core.$ZodRawIssue): string =>
  issue.code === "invalid_type" && issue.expected === "array" && isRecord(issue.input)
    ? `${sentence(issue)}; each entry begins with "- "`
    : sentence(issue);

/** What zod found in the configuration file that holds this value. */
export const findingsOf = (issues: readonly z.core.$ZodIssue[], value: unknown): Finding[] =>
  findingsIn(issues, (path, key) => {
    const section = sectionFor(key, path, value);
    const message =
      section === undefined
        ? unknownKeySentence(key, knownKeys(path))
        : `the indentation is missing: this belongs to ${section}`;
    return { path: [...path, key], message };
  });

/** The empty section before a key, where the key is one of that section. */
function sectionFor(key: string, path: Path, value: unknown): string | undefined {
  let parent = value;
  for (const step of path)
    parent = typeof parent === "object" && parent !== null ? Reflect.get(parent, step) : undefined;
  if (!isRecord(parent)) return undefined;
  const keys = Object.keys(parent);
  return keys
    .slice(0, keys.indexOf(key))
    .findLast((each) => (parent[each] ?? null) === null && knownKeys([...path, each]).includes(key));
}
