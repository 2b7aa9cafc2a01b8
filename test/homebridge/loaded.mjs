import { registerHooks } from "node:module";

/** Prints the packages that a module of the built plugin loads, one per line. */
const packages = new Set();
registerHooks({
  load(url, context, next) {
    const names = [...url.matchAll(/\/node_modules\/((?:@[^/]+\/)?[^/]+)/g)];
    if (names.length > 0) packages.add(names.at(-1)[1]);
    return next(url, context);
  },
});
const [, , module] = process.argv;
await import(new URL(`../../homebridge/dist/${module}`, import.meta.url).href);
if (module === "open-service.js") await import("rigbridge/service");
process.stdout.write(`${[...packages].join("\n")}\n`);
