import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { rolldown } from "rolldown";
import { root } from "./run.mjs";

/**
 * Builds client/dist from the built `src`: a file for Node, whose dependencies stay imports, a file for browsers, which needs
 * nothing else, with the licences of what is in it, and the declarations.
 */
const built = join(root, "dist");
const target = join(root, "client", "dist");
const { dependencies } = JSON.parse(readFileSync(join(root, "client", "package.json"), "utf8"));

rmSync(target, { recursive: true, force: true });
await bundled("index", { external: [/^node:/, ...Object.keys(dependencies)], platform: "node" });
const inBrowser = await bundled("browser", { platform: "browser" }, { minify: true });
writeFileSync(join(target, "browser.licences.txt"), licencesOf(inBrowser));
copyTypes("client/index.d.ts");

/** The ids of the modules in the file. */
async function bundled(name, input, output = {}) {
  const bundle = await rolldown({ input: join(built, "client", `${name}.js`), ...input });
  const { output: chunks } = await bundle.write({ dir: target, entryFileNames: `${name}.js`, ...output });
  await bundle.close();
  return chunks.flatMap(({ moduleIds = [] }) => moduleIds);
}

function licencesOf(modules) {
  const names = new Set(modules.flatMap((id) => /node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(id)?.[1] ?? []));
  return [...names]
    .sort()
    .map((name) => {
      const folder = join(root, "node_modules", name);
      const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
      if (file === undefined) throw new Error(`${name} has no file with its licence`);
      return `browser.js contains ${name}:\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
    })
    .join("\n\n");
}

/** Copies a declaration and all that it leads to. */
function copyTypes(file) {
  const to = join(target, "types", file);
  if (existsSync(to)) return;
  cpSync(join(built, file), to);
  const imports = readFileSync(to, "utf8").matchAll(/["'](\.{1,2}\/[^"']+)\.[jt]s["']/g);
  for (const [, path] of imports) copyTypes(join(dirname(file), `${path}.d.ts`));
}
