#!/usr/bin/env node
/** The rigbridge command. Everything else is loaded only after this check of the Node version. */
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 13)) {
  console.error(
    `Rigbridge needs Node 22.13 or newer; this is ${process.versions.node}. Get it from https://nodejs.org`,
  );
  process.exitCode = 1;
} else {
  // Node compiles sources in any case.
  if (import.meta.filename.endsWith(".js")) (await import("./compile-cache.ts")).keepCompiled();
  const { program } = await import("./program.ts");
  await (await program(process.argv.slice(2))).parseAsync();
}
