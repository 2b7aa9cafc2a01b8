/** The known word that was probably meant: the closest one, if it differs in only a few letters. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  const limit = word.length < 4 ? 1 : Math.max(2, Math.floor(word.length / 3));
  let best: { word: string; distance: number } | undefined;
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) > limit) continue;
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance <= limit && distance < (best?.distance ?? Number.POSITIVE_INFINITY))
      best = { word: candidate, distance };
  }
  return best?.word;
}

/** `; did you mean "address"?`, or nothing. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const meant = nearest(word, known);
  return meant === undefined ? "" : `; did you mean "${meant}"?`;
}

/** The Levenshtein distance, row by row. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [index, letter] of [...from].entries()) {
    const next = [index + 1];
    for (const [column, other] of [...to].entries()) {
      const changed = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(changed, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** The known word that a user means: an exact match, otherwise the only one that differs by case alone. */
export function inAnyCase(word: string, known: readonly string[]): string | undefined {
  const plain = word.trim();
  if (known.includes(word)) return word;
  const [only, another] = known.filter((each) => each.toLowerCase() === plain.toLowerCase());
  return another === undefined ? only : undefined;
}
