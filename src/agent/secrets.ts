const hidden = "***";
/** Shorter ones are hidden only as whole words. */
const distinctLength = 6;

/**
 * Redacts these secrets in a text, the longest first, since one may contain another. "x" stands for an empty password.
 */
export function redact(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret !== "" && secret !== "x")
    .toSorted((one, other) => other.length - one.length)
    .reduce(
      (rest, secret) => (secret.length < distinctLength ? withoutWord(rest, secret) : rest.replaceAll(secret, hidden)),
      text,
    );
}

const withoutWord = (text: string, secret: string): string =>
  text
    .split(/([\s"'`:=,;@/]+)/)
    .map((word) => (word === secret ? hidden : word))
    .join("");
