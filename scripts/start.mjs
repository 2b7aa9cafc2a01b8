import { rigbridge } from "./command.mjs";

/** `npm start`: installs and builds missing parts, then runs the service. */
process.exitCode = await rigbridge(["serve", ...process.argv.slice(2)]);
