import { readFileSync, writeFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { say } from "../say.ts";
import { type Installed, installed, reasonAgainst } from "./installed.ts";

const factsFile = new URL("../../mqtt/home-assistant-facts.json", import.meta.url);

/**
 * The facts that the checker in test/mqtt uses, derived from an installed Home Assistant's own schemas. As a program,
 * `node test/torture/home-assistant/facts.ts` writes them anew.
 */
async function factsOf(here: Installed): Promise<unknown> {
  const script = readFileSync(new URL("facts.py", import.meta.url), "utf8");
  return JSON.parse(await here.run("python", ["-"], script));
}

/** What the file of facts says otherwise than the installed Home Assistant. */
export async function compareFacts(here: Installed): Promise<{ measured: string; differences: string[] }> {
  const kept: unknown = JSON.parse(readFileSync(factsFile, "utf8"));
  const differences = differencesOf("", kept, await factsOf(here));
  const version = isRecord(kept) ? String(kept.homeAssistant) : "none";
  return { measured: `those of ${version}, compared with ${here.version}`, differences };
}

/** By path, down to lists and single values. */
function differencesOf(path: string, kept: unknown, found: unknown): string[] {
  if (isDeepStrictEqual(kept, found)) return [];
  if (isRecord(kept) && isRecord(found)) {
    const keys = [...new Set([...Object.keys(kept), ...Object.keys(found)])];
    return keys.flatMap((key) => differencesOf(path === "" ? key : `${path}.${key}`, kept[key], found[key]));
  }
  if (!Array.isArray(kept) || !Array.isArray(found))
    return [`${path}: ${JSON.stringify(kept)} is now ${JSON.stringify(found)}`];
  const gone = kept.filter((each) => !found.includes(each));
  const added = found.filter((each) => !kept.includes(each));
  return [`${path}: gone ${JSON.stringify(gone)}, new ${JSON.stringify(added)}`];
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

if (import.meta.main) {
  const against = reasonAgainst();
  if (against !== null) throw new Error(against);
  writeFileSync(factsFile, `${JSON.stringify(await factsOf(await installed()), null, 2)}\n`);
  say(`${factsFile.pathname} is written; \`npm run format\` gives it its form`);
}
