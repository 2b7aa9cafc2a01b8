import { randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { RigbridgeError } from "../contract/problems.ts";

/**
 * The API key that the first start makes. It is shown that once, and kept beside the store for its owner's eyes.
 * Throws `config.invalid` when there is no place to keep it, or what is kept there is no key.
 */
export async function ownKey(store: string): Promise<string> {
  if (store === ":memory:") throw new RigbridgeError("config.invalid", "--make-key needs a store that is a file");
  const file = join(dirname(store), "rigbridge.key");
  const kept = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw new RigbridgeError("config.invalid", `The key file ${file} cannot be read (${error.code})`, { cause: error });
  });
  if (kept === null) return newKey(file);
  const key = kept.trim();
  if (/^[\x21-\x7e]{16,200}$/.test(key)) return key;
  throw new RigbridgeError(
    "config.invalid",
    `${file} holds no key of 16 characters or more; remove it to get a new one`,
  );
}

async function newKey(file: string): Promise<string> {
  const key = randomBytes(24).toString("base64url");
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, `${key}\n`, { mode: 0o600, flag: "wx" });
  console.log(`The API key, shown this once and kept in ${file}:\n\n  ${key}\n`);
  return key;
}
