/** The header in which a centre names the person who acts, to a site whose key for it is marked as a centre's. */
export const centreActorHeader = "x-rigbridge-actor";

/** Characters of a name in the log. */
const longest = 100;

/** The name as a header carries it. */
export const centreActorText = (actor: string): string => encodeURIComponent(actor.slice(0, longest).toWellFormed());

/** The name in the header, as one line; "unknown" if it cannot be read. */
export function centreActorIn(text: string): string {
  try {
    const name = decodeURIComponent(text)
      .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "")
      .trim();
    return name.slice(0, longest) || "unknown";
  } catch {
    return "unknown";
  }
}
