import { expect, test } from "@jest/globals";
import { messages as de } from "../../src/web/messages/de/index.ts";
import { messages as en } from "../../src/web/messages/en/index.ts";
import { messages as fa } from "../../src/web/messages/fa/index.ts";
import { messages as sv } from "../../src/web/messages/sv/index.ts";

// That no text is missing is checked by the types; here is what types cannot see.

type Text = readonly [path: string, text: string];

/** Every text of a language by its path; functions called with words that can be found again. */
function textsOf(value: unknown, path = ""): Text[] {
  if (typeof value === "string") return [[path, value]];
  if (typeof value === "function") {
    const words = Array.from({ length: value.length }, (_, index) => `${index + 701}`);
    const text: unknown = Reflect.apply(value, undefined, words);
    return [[`${path}(${words.join(", ")})`, String(text)]];
  }
  return Object.entries(Object(value)).flatMap(([key, inner]) => textsOf(inner, `${path}/${key}`));
}

const source = new Map(textsOf(en));

test("no English text is empty or ends with a space", () => {
  expect([...source].filter(([, text]) => text.trim() !== text || text === "")).toEqual([]);
});

test.each([
  ["de", de],
  ["sv", sv],
  ["fa", fa],
] as const)("%s: every text is translated and keeps what is put into it", (_, messages) => {
  const texts = textsOf(messages);
  const untranslated = texts.filter(([path, text]) => text === source.get(path) && /\p{L}{3,} \p{L}{3,}/u.test(text));
  expect(untranslated).toEqual([]);
  expect(texts.filter(([, text]) => text.trim() !== text || text === "")).toEqual([]);
  const placesIn = (text: string) => [...text.matchAll(/#|\b70\d\b/g)].map(([each]) => each).sort();
  const changed = texts.filter(([path, text]) => {
    const english = source.get(path);
    return english !== undefined && placesIn(english).join() !== placesIn(text).join();
  });
  expect(changed).toEqual([]);
});
