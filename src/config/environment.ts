import { isRecord } from "../contract/record.ts";
import type { Finding, Path } from "./document.ts";

/** The environment variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Replaces `${NAME}` in texts by the environment variable; `$${` is a literal `${`. The result is always text, so it
 * fits only where text is expected. A key without a value counts as absent.
 */
export function withEnvironment(value: unknown, env: Environment): { value: unknown; findings: Finding[] } {
  const findings: Finding[] = [];
  const walk = (part: unknown, path: Path): unknown => {
    if (typeof part === "string") return substitute(part, env, (message) => findings.push({ path, message }));
    if (Array.isArray(part)) return part.map((item, index) => walk(item, [...path, index]));
    if (!isRecord(part)) return part;
    return Object.fromEntries(
      Object.entries(part).map(([key, item]) => [key, walk(item ?? undefined, [...path, key])]),
    );
  };
  return { value: walk(value, []), findings };
}

function substitute(text: string, env: Environment, mistake: (message: string) => void): string {
  return text.replace(/\$\$\{|\$\{([^}]*)\}/g, (written, name: string | undefined) => {
    if (name === undefined) return "${";
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      mistake("has a ${ that is not followed by the name of an environment variable; write $${ for a literal ${");
      return written;
    }
    const value = env[name];
    if (value === undefined) mistake(`needs the environment variable ${name}, which is not set`);
    return value ?? written;
  });
}
