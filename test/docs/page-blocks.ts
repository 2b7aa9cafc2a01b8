/** The code of a language in a page of documents, in order. */
export const blocksIn = (page: string, language: string): string[] =>
  [...page.matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, named, text = ""]) => (named === language ? [text] : []));
