/**
 * Whether tests of a program that `npm test` installs can run. Without it they are skipped after a note on stderr; where
 * CI is set they fail instead, so that nobody takes a run without them for a whole one.
 */
export function hasProgram(name: string, isThere: boolean, leftOut: string): boolean {
  if (isThere) return true;
  const note = `${name} is missing; skipped: ${leftOut}`;
  if (!["", "0", "false"].includes(process.env.CI ?? "")) throw new Error(`${note}. In CI nothing may be skipped.`);
  process.stderr.write(`${note}\n`);
  return false;
}
