/** The hint below a field of a form, from the description of its schema: without notes for programs. */
export const hintText = (description: string): string =>
  description
    .replace(/ \(Rigbridge extension\)/g, "")
    .replace(/; null = none\b/, "")
    .replace(/\b(?:null|absent)(?: =|:) /g, "empty: ")
    .replace(/^[a-z](?=[a-z]*,? )/, (letter) => letter.toUpperCase());
