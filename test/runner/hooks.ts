import { readFileSync } from "node:fs";
import { createRequire, registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

/** What Node does not load by itself: components, style sheets, and Jest's functions, which exist only in a run. */
const globals = new URL("globals.ts", import.meta.url).href;
const require = createRequire(import.meta.url);

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === "@jest/globals" ? { url: globals, shortCircuit: true } : next(specifier, context),
  load(url, context, next) {
    if (url.endsWith(".css")) return { format: "module", source: "", shortCircuit: true };
    if (url.endsWith(".tsx")) return { format: "module", source: compiled(fileURLToPath(url)), shortCircuit: true };
    return next(url, context);
  },
});

function compiled(file: string): string {
  // Loaded only where it is needed, because it takes a third of a second.
  const { transformSync }: typeof import("rolldown/utils") = require("rolldown/utils");
  const jsx = { runtime: "automatic", importSource: "preact" } as const;
  const { code, errors, map } = transformSync(file, readFileSync(file, "utf8"), { jsx, sourcemap: true });
  const [error] = errors;
  if (error !== undefined) throw error;
  const encoded = Buffer.from(JSON.stringify(map)).toString("base64");
  return `${code}\n//# sourceMappingURL=data:application/json;base64,${encoded}`;
}
