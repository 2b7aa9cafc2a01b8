import { readdirSync } from "node:fs";
import { Verdict } from "./measure.ts";
import { say } from "./say.ts";

/**
 * What an attacker on the network, or a user with few rights, can do to a running service: `npm run torture -- attack`.
 * Each file in attacks/ is one kind of attack and says which promise of SECURITY.md it tries to break.
 */
export interface Attack {
  readonly name: string;
  run(verdict: Verdict): Promise<void>;
}

const folder = new URL("./attacks/", import.meta.url);
const verdict = new Verdict();
for (const file of readdirSync(folder)
  .filter((name) => name.endsWith(".ts"))
  .sort()) {
  const { attack }: { attack?: Attack } = await import(new URL(file, folder).href);
  if (attack === undefined) continue;
  say(`\n-- ${attack.name}`);
  await attack.run(verdict);
}
verdict.end();
