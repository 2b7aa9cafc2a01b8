import { readFile, stat } from "node:fs/promises";
import { RigbridgeError } from "../contract/problems.ts";
import { isRecord } from "../contract/record.ts";

/** The text of a configuration file. Throws `config.invalid` if it cannot be read. */
export async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const why = (isRecord(error) && reasons[String(error.code)]) || "cannot be read";
    throw new RigbridgeError("config.invalid", `${file} ${why}`, { cause: error });
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EACCES: "cannot be read by this user; change its owner or permissions",
  EISDIR: "is a folder; give the name of a file",
};

export function invalidConfig(
  name: string,
  mistakes: readonly { line: number; path: string; message: string }[],
): RigbridgeError {
  const errors = mistakes
    .toSorted((a, b) => a.line - b.line)
    .map(({ line, path, message }) => ({ path: `${name}:${line}${path === "" ? "" : `: ${path}`}`, message }));
  const count = errors.length === 1 ? "a mistake" : `${errors.length} mistakes`;
  return new RigbridgeError("config.invalid", `${name} has ${count}`, { errors });
}

/** On Windows the mode does not show it. */
export const readableByOthers = async (file: string): Promise<boolean> =>
  process.platform !== "win32" && ((await stat(file)).mode & 0o004) !== 0;
