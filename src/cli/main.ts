#!/usr/bin/env node
/** The rigbridge command. What follows is loaded only once it is known that this Node can. */
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 13)) {
  console.error(
    `Rigbridge needs Node 22.13 or newer; this is ${process.versions.node}. Get it from https://nodejs.org`,
  );
  process.exitCode = 1;
} else {
  const { program } = await import("./program.ts");
  await program().parseAsync();
}
