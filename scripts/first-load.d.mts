import type { Texts } from "../src/messages/texts.ts";

export const firstFiles: ReadonlySet<string>;
export function splitTexts(texts: Texts): { readonly first: Texts; readonly others: Texts };
