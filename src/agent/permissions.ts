import { constants } from "node:fs";
import { access, open, realpath, stat } from "node:fs/promises";
import { basename, extname, isAbsolute, relative, resolve } from "node:path";
import type { MiningProgram } from "../catalogue/mining-program.ts";
import { RigbridgeError } from "../contract/problems.ts";

/** Where this host's administrator may change the permissions. */
const where = "in the agent's own configuration on the host";

export const forbidden = (what: string, setting: string): RigbridgeError =>
  new RigbridgeError("agent.forbidden", `This host does not allow ${what}; only \`${setting}\` ${where} can`);

/**
 * The real path of a program that the service wants to run. Throws `agent.forbidden` if it is not in one of the
 * folders, or a link leads out of them; outside, the error does not even reveal whether a file exists. Throws
 * `program.missing` or `program.not-executable` for other reasons.
 */
export async function allowedExecutable(path: string, folders: readonly string[]): Promise<string> {
  const outside = forbidden(`programs outside of ${folders.join(", ") || "its own folders"}`, "allow.folders");
  if (!isAbsolute(path)) throw new RigbridgeError("program.missing", `The path ${path} must be absolute`);
  const real = await realpath(path).catch(() => null);
  if (real === null) {
    if (!folders.some((folder) => isWithin(resolve(path), resolve(folder)))) throw outside;
    throw new RigbridgeError("program.missing", `${path} does not exist on this host, or the agent may not read it`);
  }
  const realFolders = await Promise.all(folders.map((folder) => realpath(folder).catch(() => null)));
  if (!realFolders.some((folder) => folder !== null && isWithin(real, folder))) throw outside;
  return executable(real);
}

/**
 * Throws `agent.forbidden` if a file does not have the name of the chosen program: rules for one program's parameters do not
 * protect another.
 */
export function checkName(path: string, { name, executable: { linux, windows } }: MiningProgram): void {
  const files = [linux, windows].flatMap((each) => (each === null ? [] : [each.replace(/\.exe$/, "").toLowerCase()]));
  const names = [...new Set(files)];
  if (names.some((each) => basename(path).toLowerCase().startsWith(each))) return;
  const what = names.length === 0 ? "has no executable with a known name" : `is called ${names.join(" or ")}`;
  throw new RigbridgeError("agent.forbidden", `${path} is refused as ${name}, which ${what}; rename the file`);
}

/** The real path of a program. */
export async function executable(path: string): Promise<string> {
  const real = await realpath(path).catch(() => null);
  if (real === null)
    throw new RigbridgeError("program.missing", `${path} does not exist on this host, or the agent may not read it`);
  if (!(await stat(real)).isFile()) throw notExecutable(path, "is not a file");
  // Windows runs batch files by a shell.
  if (process.platform === "win32" && extname(real).toLowerCase() !== ".exe")
    throw notExecutable(path, "is not an .exe");
  const may = await access(real, constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!may) throw notExecutable(path, "is not executable by the agent's user; run chmod +x on it");
  if (process.platform !== "win32" && !(await isProgram(real)))
    throw notExecutable(path, "is neither an executable for this system nor a script that begins with #!");
  return real;
}

/** First bytes of executables of Linux (ELF) and macOS (Mach-O, both byte orders, and universal), and of scripts. */
const beginnings = ["7f454c46", "cffaedfe", "cefaedfe", "feedfacf", "feedface", "cafebabe", "2321"];

/** Any other executable file would be run by a shell. */
async function isProgram(path: string): Promise<boolean> {
  const file = await open(path, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    const begin = buffer.toString("hex", 0, bytesRead);
    return beginnings.some((each) => begin.startsWith(each));
  } finally {
    await file.close();
  }
}

const notExecutable = (path: string, why: string): RigbridgeError =>
  new RigbridgeError("program.not-executable", `${path} ${why}`);

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== "" && !way.startsWith("..") && !isAbsolute(way);
}
